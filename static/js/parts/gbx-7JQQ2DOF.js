import{a}from"./chunk-U6TFCAUQ.js";import"./chunk-UH3NZNIM.js";import"./chunk-ECXMKOLI.js";import"./chunk-LDUYL4QP.js";export{a as openGbx};
