import"./parts/chunk-SIWUXBMS.js";import{d as o}from"./parts/chunk-NEJDQF3Z.js";Object.assign(globalThis,{glassbox:{commandTable:o}});
