import{a}from"./chunk-A6WCZOVA.js";import"./chunk-UH3NZNIM.js";import"./chunk-ECXMKOLI.js";import"./chunk-M5UNL2OH.js";export{a as openGbx};
