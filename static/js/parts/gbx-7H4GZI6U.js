import{a}from"./chunk-XNHM7GAT.js";import"./chunk-UH3NZNIM.js";import"./chunk-ECXMKOLI.js";import"./chunk-4YAFUU55.js";export{a as openGbx};
