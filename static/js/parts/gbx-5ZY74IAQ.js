import{a}from"./chunk-DV6VJA6V.js";import"./chunk-UH3NZNIM.js";import"./chunk-ECXMKOLI.js";import"./chunk-MOYTIHSR.js";export{a as openGbx};
