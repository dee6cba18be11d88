package trace

// OpID names one op of the forward pass. An op exists once: one row in the op table, one step page, one method of
// graph.Builder through which a model uses it, one function in each backend.
type OpID uint8

// The ops, in the order in which a layer runs them. No model has all of them.
const (
	OpNone OpID = iota
	OpEmbed
	OpAttnNorm
	OpAttnQ
	OpAttnK
	OpAttnV
	OpAttnQNorm
	OpAttnKNorm
	OpRope
	OpKVWrite
	OpScores
	OpSoftmax
	OpMix
	OpAttnOut
	OpAllReduce
	OpAttnPostNorm
	OpAttnResidual
	OpFFNNorm
	OpGate
	OpUp
	OpSwiGLU
	OpGeGLU
	OpDown
	OpFFNPostNorm
	OpFFNResidual
	OpOutNorm
	OpLMHead
	opEnd
)

// Family groups ops by what they belong to; a page gives each family a hue and a letter.
type Family byte

// The families.
const (
	FamilyEmbed     Family = 'E' // embedding and unembedding
	FamilyNorm      Family = 'N' // norms, residual adds, and sums over shards
	FamilyAttention Family = 'A'
	FamilyKV        Family = 'K' // the KV cache
	FamilyFFN       Family = 'F' // feed-forward
)

// OpInfo is a row of the op table.
type OpInfo struct {
	Step   StepID
	Family Family
}

var opTable = [opEnd]OpInfo{
	OpEmbed:        {StepEmbed, FamilyEmbed},
	OpAttnNorm:     {StepAttnNorm, FamilyNorm},
	OpAttnQ:        {StepAttnQ, FamilyAttention},
	OpAttnK:        {StepAttnK, FamilyAttention},
	OpAttnV:        {StepAttnV, FamilyAttention},
	OpAttnQNorm:    {StepAttnQNorm, FamilyNorm},
	OpAttnKNorm:    {StepAttnKNorm, FamilyNorm},
	OpRope:         {StepRope, FamilyAttention},
	OpKVWrite:      {StepKVWrite, FamilyKV},
	OpScores:       {StepScores, FamilyAttention},
	OpSoftmax:      {StepSoftmax, FamilyAttention},
	OpMix:          {StepMix, FamilyAttention},
	OpAttnOut:      {StepAttnOut, FamilyAttention},
	OpAllReduce:    {StepAllReduce, FamilyNorm},
	OpAttnPostNorm: {StepAttnPostNorm, FamilyNorm},
	OpAttnResidual: {StepAttnResidual, FamilyNorm},
	OpFFNNorm:      {StepFFNNorm, FamilyNorm},
	OpGate:         {StepGate, FamilyFFN},
	OpUp:           {StepUp, FamilyFFN},
	OpSwiGLU:       {StepSwiGLU, FamilyFFN},
	OpGeGLU:        {StepGeGLU, FamilyFFN},
	OpDown:         {StepDown, FamilyFFN},
	OpFFNPostNorm:  {StepFFNPostNorm, FamilyNorm},
	OpFFNResidual:  {StepFFNResidual, FamilyNorm},
	OpOutNorm:      {StepOutNorm, FamilyNorm},
	OpLMHead:       {StepLMHead, FamilyEmbed},
}

// Ops returns all op ids in the order in which a layer runs them.
func Ops() []OpID {
	ids := make([]OpID, 0, opEnd-1)
	for o := OpNone + 1; o < opEnd; o++ {
		ids = append(ids, o)
	}
	return ids
}

// Step returns the stop of the walk that this op is.
func (o OpID) Step() StepID { return opTable[o].Step }

// Family returns the op's family.
func (o OpID) Family() Family { return opTable[o].Family }

// String returns the op's name, which is its step's.
func (o OpID) String() string { return opTable[o].Step.String() }
