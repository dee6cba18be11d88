import"./parts/chunk-UWGPOEQD.js";import{d as o}from"./parts/chunk-NG2W5HM7.js";Object.assign(globalThis,{glassbox:{commandTable:o}});
