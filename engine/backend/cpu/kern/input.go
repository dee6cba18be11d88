package kern

// InputTop is the largest code that Quantise gives: a run of inputs, 32 or 256 of them, has the scale d = max|x|/InputTop,
// and a value is a code times d. Who works a product out again has to round its input so.
const InputTop = 32512
