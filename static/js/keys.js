import"./parts/chunk-JX4DWEEC.js";import{d as o}from"./parts/chunk-7YJELZBU.js";Object.assign(globalThis,{glassbox:{commandTable:o}});
