import{d as a}from"./parts/chunk-TS45RY55.js";Object.assign(globalThis,{glassbox:{commandTable:a}});
