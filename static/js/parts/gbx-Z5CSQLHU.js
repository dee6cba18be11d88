import{a}from"./chunk-MEZOV75I.js";import"./chunk-UH3NZNIM.js";import"./chunk-ECXMKOLI.js";import"./chunk-C4MI4RDX.js";export{a as openGbx};
