"""The texts of the golden files: one list, the same on every run. Used by make.py."""
import random

FIXED = [
    "", " ", "  ", "   ", "\t", "\n", "\n\n", "\n\n\n", "\t\n", "\r\n", "\r\n\r\n", " \n", "\n ", " \n ", "\n \n \n\n\n \t \t\t \t\n  \n   \n",
    "Hello world", " Hello world", "Hello World", " Hello World!", "Hello, world!", "hello\tworld", "a\u00a0b", "a\u3000b", "a\u2028b\u0085c",
    "\u00a0\u00a0x", "\u3000\u3000x", "x \u3000", "\u2003\u2009 mixed \u202f spaces\u205f", "\ufeffBOM", "zero\u200bwidth", "soft\u00adhyphen",
    "I've", "I'VE", "I'Ve", "we'll WE'LL We'lL", "don't DON'T", "he's HE'S", "'s 't 're 've 'm 'll 'd", "'S 'T 'RE 'VE 'M 'LL 'D",
    "it\u2019s", "'\u017f long s", "x'\u017fy", "''s", "'' ' '", "'sad 'today 'reality", "o'clock", "rock'n'roll", "'re", " 're", "'r 'v 'l", "y'all'd've",
    "3", "33", "333", "3333", "33333", "333333", "3333333", "33333333", "333333333", "1234567890", "3.14159", "1,000,000.00", "1e-10", "0x1F",
    "  1", "   12", " 1 2  3   4", "\t1", "\n1", "1\n2", "a1b2c3", "x²+y²=z²", "½ cup", "1½", " ½", "²", "2²", "Ⅷ", "ⅷ Ⅻ", "٣٤٥", "٠١٢٣٤٥٦٧٨٩", " ٣",
    "०१२३", "๑๒๓", "৪৫", "１２３", "①②③", "㊿", "𝟘𝟙𝟚", "〇一二", "𐄇𐄈", "⅓⅔", "1/2", "10%", "$5.00", "€100", "№5", "5°C", "v1.2.3-rc4", "2024-02-29T12:00:00Z",
    "🚀", "🦙.cpp", "😀😃😄", "👨‍👩‍👧‍👦", "🏳️‍🌈", "👩🏽‍💻", "🇩🇪🇫🇷", "1️⃣2️⃣", "☺️", "😶‍🌫️", "✅ done ✔️", "🫠🫡", "a🚀b", " 🚀 ", "🚀 (normal) 😶‍🌫️ (multiple emojis concatenated) ✅",
    "我想在apple工作1314151天～", "日本語のテキスト", "カタカナ ひらがな", "한국어 텍스트", "繁體中文，標點。", "你好，世界！", "東京タワー333m", "々〆〤", "ﾊﾝｶｸ", "ＦＵＬＬ　ｗｉｄｔｈ", "𠮷野家", "㐀㐁", "𮯰𮹝",
    "مرحبا بالعالم", "السلام عليكم ١٢٣", "שלום עולם", "שָׁלוֹם", "สวัสดีชาวโลก", "नमस्ते दुनिया", "क्षत्रिय", "বাংলা", "தமிழ்", "ქართული", "Ქართული", "Հայերեն", "ខ្មែរ", "မြန်မာ", "ᏣᎳᎩ ꮳꮃꭹ", "አማርኛ",
    "Привет, мир!", "нещо на Български", "Ελληνικά ΐ ΰ", "Tiếng Việt", "Cửa Việt", "ied 4 ½ months", "Führer", "naïve café", "cafe\u0301", "A\u030a \u212b Å", "ﬁ ligature ﬆ", "İstanbul ı", "ß ẞ", "ǅ ǆ", "ʰ ª º", "𝒜𝓑𝕔", "\u1e9b\u0323", "e\u0301\u0302\u0327",
    "!!!!!!", "??????", "......", "------======", "==========", "#####", "****", "''''''```````\"\"\"\"......!!!!!!??????", "~!@#$%^&*()_+`-={}|[]\\:\";'<>?,./", "→ ⇒ ≠ ≤ ∑ ∫", "«quote»", "“smart” ‘quotes’", "— – ‐", "…", "・。、", "!\n!\n\n", "...\r\n...", ";\n\n\t}", ")\n\n\n  x", "end.  \n", " ?\r\r\n",
    "def f(x):\n    return x ** 2\n", "for (int i = 0; i < n; ++i) {\n\tsum += a[i];\n}\n", "SELECT * FROM t WHERE id=42;", "<div class=\"a\">\n  <p>hi</p>\n</div>", "{\"key\": [1, 2.5, null, true]}", "fn main() { println!(\"{}\", 1); }", "if err != nil {\n\t\treturn fmt.Errorf(\"x: %w\", err)\n\t}", "#!/bin/sh\necho $HOME | sed 's/a/b/g'", "let x = y?.z ?? 'w';", "\\frac{a}{b} \\sum_{i=0}^{n} x_i", "lambda x: x+1  # comment", "https://example.com/a?b=c&d=%20#e", "user@example.com", "C:\\Windows\\System32", "/usr/local/bin", "snake_case camelCase PascalCase SCREAMING_CASE kebab-case", "    indented\n        more\n", "\t\t\ttabs\n", "trailing   ", "trailing\n", "trailing \n", "trailing\n ", "a  b   c    d", "a \t b", "\x00", "a\x00b", "\x01\x02\x03\x04\x05\x06\x07", "\x1b[31mred\x1b[0m", "\x7f", "a\x04b\x06c", "\U0001fffd", "\U00040000 \U000d0000", "\U0010ffff", "\ufffd", "\ufffe\uffff", "\u0378", "\U00010d40\U00011de0\U00016ff4 x", "\U00010d4a\ua7cb\u1c89",
    "<|im_start|>user\nhi<|im_end|>\n", "<|endoftext|>", "<s>", "</s>", "<unk>", "<0x41>", "<fim_prefix>", "<｜User｜>", "▁", "▁▁a", "a▁b", "Ġ", "ĠĠhello", "Ċ", "<|im_start", "|>",
    "a" * 300, " " * 100, "\n" * 50, "ab" * 100, "=" * 200, "😀" * 40, "0" * 70, " a" * 64, "哈" * 120, "A" * 33 + "b", "\t" * 17 + "x", " " * 31 + "9",
]

ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", "½²Ⅷ٣४๓①", "    ", "\t\n\r ", "\n", "'", "''strevmldSTREVMLD",
    "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~", "éàüßñçøåœĳŉ", "абвгдежзАБВ", "αβγδΑΒΓ", "你好世界中文字符的一是不", "ひらがなカタカナー", "한국어가나다", "مرحباالعالم", "שלוםעולם", "สวัสดีครับ", "नमस्तेक्ष", "😀🚀🦙👍🏽❤️✅", "\u200d\ufe0f\u0301\u0302\u20e3", "\u00a0\u2003\u3000\u2028\u0085\x0b", "→≠∑«»“”‘’—…。，！？", "ǅʰªºﬁⅤ", "𝒜𝟘𠮷𐐀𞤀",
]

WORDS = """the of and to in is that for it was on with as The Hello world function return import class def self int void printf println
SELECT FROM WHERE token model layer attention don't I'll WE'RE they've Berlin München Москва 東京 مرحبا नमस्ते 2024 3.14 0xFF -- == != => :: /* */ // # $x @a
</div> <p> {} [] () "quoted" 'single' `code` e.g. i.e. U.S.A. http://x.y/z?a=1 user_name camelCase naïve façade 1st 2nd 100% €5 №7 ½ ² Ⅷ 🚀 ✅ 👨‍👩‍👧‍👦""".split()


def texts():
    rng = random.Random(20240229)
    out = list(FIXED)
    for i in range(800):  # random characters, a few alphabets each
        pool = rng.sample(ALPHABETS, rng.randint(1, 4))
        out.append("".join(rng.choice(rng.choice(pool)) for _ in range(rng.randint(1, 40))))
    for i in range(700):  # words with odd blanks and newlines between
        s = ""
        for _ in range(rng.randint(1, 14)):
            s += rng.choice(WORDS) + rng.choice([" ", " ", " ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "", "", ", ", ". "])
        out.append(s)
    for i in range(250):  # any code points at all
        s = ""
        for _ in range(rng.randint(1, 20)):
            c = rng.choice([rng.randrange(0x80), rng.randrange(0x800), rng.randrange(0x10000), rng.randrange(0x20000), rng.randrange(0x110000)])
            s += chr(c if not 0xD800 <= c <= 0xDFFF else 0x41) + rng.choice(["", "", " ", "1"])
        out.append(s)
    for a in ALPHABETS:  # runs against each other
        for b in ALPHABETS[:10]:
            out.append(a[:1] * rng.randint(1, 9) + b[-1:] * rng.randint(1, 9) + a[-1:])
    seen, unique = set(), []
    for s in out:
        if s not in seen:
            seen.add(s)
            unique.append(s)
    return unique
