package client

import "strings"

// common are short everyday words: in nearly every vocabulary each is one token with its leading blank, so any six of
// them take the same number of tokens. A nonce of six has 64^6 = 2^36 values.
var common = strings.Fields(`time year people way day man thing woman life child world school state family student group
country problem hand part place case week company system program question work night point home water room mother area money
story fact month lot right study book eye job word business issue side kind head house service friend father power hour game
line end member law car city name team`)

// prose is a text of our own, given to the public domain. It is plain on purpose: nothing in it asks for an early end.
const prose = `The harbour lies at the mouth of a slow river, and every morning the boats leave before the sun is up.
Old nets hang over the wall to dry, and the children count the knots on their way to school.
A clerk writes down what each boat brings home, because the town has kept such lists for two hundred years.
In the first of these books the ink has turned brown, but the numbers can still be read without a glass.
There were years with so much herring that it was spread on the fields, and years when nobody wrote a line.
The lighthouse keeper had a second list, of storms, with the hour at which each began and the hour at which it was over.
When the two lists are laid side by side, one sees that the poor years follow the windy ones by about three seasons.
Nobody in the town had noticed this until a teacher copied both into one table and asked her class what they saw.
Some saw nothing, some saw ships, and one boy said that the wind must carry the small fish out beyond the sandbank.
The teacher sent the table to the capital, where a committee looked at it, praised it and put it away.
Thirty years later a young woman found it there, in a box that was meant to hold maps of canals.
She took the train to the coast, asked for the clerk, and was shown the shelf with all of the books.
She stayed for a summer, measured the depth of the water from a rowing boat, and drew the sandbank as it moved.
Each measurement was taken twice, once going out and once coming back, and the difference was written beside it.
She said that a number without its error is like a letter without an address: it may be true, but it goes nowhere.
The fishermen laughed at first, and then they began to bring her stones, shells and pieces of rope from the nets.
From the rope she could tell how far the current had carried it, since every village twisted its own in its own way.
In autumn she gave a talk in the school, with the windows open, and half of the town stood outside to hear it.
She told them that the bank would reach the second pier within forty years, unless the river was led around it.
A baker asked what it would cost, and she had the answer ready, on a sheet of paper, with three columns.
The work began in spring, was stopped by a flood, began again, and was finished after eleven years.
Since then the boats leave through a channel that is straight, deep and marked with lamps that burn oil no longer.
On clear evenings one can see the old bank from the hill, a pale line under the water, longer than anyone remembers.
Visitors walk along the pier and read the names on the stones, and most of them ask about the woman with the rope.
The clerk shows them the last page she wrote, where the table ends and a new one, ruled but empty, begins.
He says that the town has filled it since, line by line, and that the wind still comes first and the fish come later.
In winter, when there is little to do, he checks the sums of former years and finds about one mistake in a thousand.
He does not correct the old books; he writes the right number on a slip of paper and lays it between the pages.
So there are now two histories of the harbour, one as it was written and one as it was, and they differ by little.
A museum has offered to keep them behind glass, but the town prefers that they lie open, on the long table by the door.
The next clerk is already learning the hand in which the lists are kept, because it must be read by those who follow.
She practises with the weather, which is never late, and with the ferry, which always is, by four minutes or five.
At noon the bell of the school rings, the gulls rise from the roofs, and the first of the boats comes round the pier.
Then the counting starts again, aloud, box by box, as it has been done since the first page of the first book.
Far inland the river begins as a spring under three birches, and whoever drinks from it can taste the iron in the stone.
It passes a mill, a paper works and a castle without a roof before it is broad enough to carry a barge.
The bargemen know each bend by a name that no map has, and they teach the names to their dogs before their sons.
Where the valley opens there is a market on the first day of each month, with honey, knives, lamps and second-hand books.`

var (
	words    = strings.Fields(prose)
	question = "Here is the beginning of a long chronicle. Go on with it in the same manner, at great length, without stopping."
)
