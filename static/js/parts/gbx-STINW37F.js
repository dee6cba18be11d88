import{a}from"./chunk-ZAEDBQFG.js";import"./chunk-UH3NZNIM.js";import"./chunk-ECXMKOLI.js";import"./chunk-NME5JTMZ.js";export{a as openGbx};
