import{a}from"./chunk-R4IAOUQC.js";import"./chunk-UH3NZNIM.js";import"./chunk-ECXMKOLI.js";import"./chunk-QK5I3RY3.js";export{a as openGbx};
