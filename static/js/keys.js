import{d as a}from"./parts/chunk-B3YXRVV5.js";Object.assign(globalThis,{glassbox:{commandTable:a}});
