import{d as a}from"./parts/chunk-3OC37L3M.js";Object.assign(globalThis,{glassbox:{commandTable:a}});
