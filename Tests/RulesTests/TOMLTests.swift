import Foundation
import SeededRandom
import Terminal
import TestSupport
import Testing

@testable import SettingsFile

/// What the parser accepts, and what it reads, is what Python's does.
@Suite struct TOMLTests {
    /// Prints a JSON list with what Python reads in each text of one; null for what it refuses.
    private static let script = """
        import datetime, json, sys, tomllib

        def plain(value):
            if isinstance(value, dict):
                return {key: plain(inner) for key, inner in value.items()}
            if isinstance(value, list):
                return [plain(inner) for inner in value]
            if isinstance(value, bool):
                return "boolean " + str(value).lower()
            if isinstance(value, float):
                return "float " + ("nan" if value != value else value.hex())
            if isinstance(value, (datetime.date, datetime.time)):
                return "moment"
            return value

        def read(text):
            try:
                return plain(tomllib.loads(text))
            except ValueError:
                return None

        json.dump([read(text) for text in json.load(sys.stdin)], sys.stdout)
        """

    private static let keys = [
        "", "\n", "a = 1", "a=1\r\nb=2", "a = 1 b = 2", "a = 1\rb = 2", "a", "a =", "= 1", "a = = 1",
        "a.b = 1\na.c = 2",
        "a = 1\na = 2", "a.b = 1\na = 2", "a = 1\na.b = 2", "'a' = 1\n\"b\" = 2\n3 = 4", "\"\" = 1", "a . b = 1",
        "ä = 1",
        "\"a\\u00e4\" = 1", "\"\"\"a\"\"\" = 1", "a\n= 1", "a = # c\n1", "# c\u{1}", "# tab\there", "#\u{7f}",
        "a = 1 # \u{80}", "\u{feff}a = 1",
    ]

    private static let tables = [
        "[a]", "[a]\n[a]", "[a.b]\n[a]", "[a]\n[a.b]\n[a]", "[a.b]\n[a]\n[a]", "[a]\nb = 1\n[a.b]",
        "[a]\nb.c = 1\n[a.b]",
        "[a]\nb.c = 1\n[a.b.d]", "[a.b]\nc = 1\n[a]\nb.d = 2", "[a.b.c]\nz = 9\n[a]\nb.c.t = 1",
        "[a.b.c.d]\n[a]\nb.c.t = 1", "a.b = 1\n[a]", "a.b = 1\n[a.c]", "a = {b = 1}\n[a.c]", "a = {b.c = 1}\n[a.b.d]",
        "a = {}\n[a]", "a = {}\na.b = 1", "[[a]]\n[[a]]\nb = 1", "[[a]]\n[a]", "[a]\n[[a]]", "a = []\n[[a]]",
        "a = [{}]\n[[a]]", "[[a]]\n[a.b]\n[[a]]\n[a.b]", "[[a]]\n[a.b]\n[a.b]", "[[a.b]]\n[a]", "[a.b]\n[[a.b]]",
        "[[a]]\n[[a.b]]\n[[a.b]]\nc = 1", "[ a . 'b' ]", "[a", "[a]]", "[[a]", "[[a] ]", "[ [a]]", "[]", "[[]]",
        "[a]b = 1",
        "[a] # c", "[a\n]", "[a.]", "[.a]", "[a]\n[b]\n[a.c]\n[b.c]", "a = {b = 1, c = 2}", "a = {b = 1,}", "a = {,}",
        "a = {b = 1\n}", "a = {b = 1 c = 2}", "a = {b = 1, b = 2}", "a = {b.c = 1, b.d = 2}", "a = {b = {}, b.c = 1}",
        "a = {b.c = 1, b = 2}", "a = {b = [1,\n2]}", "a = [1, 2,]", "a = [,]", "a = [1 2]", "a = [1,,2]",
        "a = [ # c\n 1 # d\n , # e\n 2 ]", "a = [[1], ['x'], {b = 1}]", "a = [1", "a = {", "a = ]", "a = }", "a = ,",
    ]

    private static let strings = [
        #""\b\t\n\f\r\"\\\u00e4\U0001F600""#, #""\x""#, #""\u12""#, #""\ud800""#, #""\U00110000""#, "\"\t\"",
        "\"\u{1}\"",
        "'\\n'", "''", "\"", "\"b\nc\"", "'b\nc'", "'''b'c''d'''", "'''''b'''''", "''''''''", "\"\"\"\"\"\"\"\"\"",
        "'''''''''",
        "\"\"\"\n\n b\\\n  \n  c\"\"\"", "\"\"\"b\\  \n  c\"\"\"", "\"\"\"b\\ c\"\"\"", "'''b\rc'''", "'''b\r\nc'''",
        "'''",
        "\"\"\"\"b\"\"\"\"", "\"b\"c", "\"\"\"\\\"\"\"",
    ]

    private static let words = [
        "0", "-0", "+1", "01", "1_000", "1__0", "_1", "1_", "0x1F", "0xg", "0o17", "0o8", "0b10", "0b2", "-0x1", "0X1",
        "0x",
        "0x_1", "0x1_f", "9223372036854775807", "-9223372036854775808", "1.5", "1.", ".5", "1.e1", "1e3", "1E+3",
        "1e-03", "1e",
        "1.5e1_0", "1._5", "01.5", "0.5", "-0.0", "inf", "+inf", "-inf", "nan", "-nan", "Inf", "1e400", "true", "True",
        "false x", "truefalse", "+-1", "1 2", "1979-05-27", "1979-05-27T07:32:00Z", "1979-05-27 07:32:00",
        "1979-05-27t07:32:00.5-07:00", "07:32:00", "07:32", "7:32:00", "24:00:00", "07:60:00", "1979-02-29",
        "1980-02-29",
        "1900-02-29", "2000-02-29", "1979-13-01", "1979-00-01", "1979-5-27", "1979-05-27T", "1979-05-27T07:32",
        "1979-05-27 # c", "1979-05-27  07:32:00", "1979-05-27T07:32:00+24:00", "1979-05-27T07:32:00.",
        "1979-05-27T07:32:00z", "[1979-05-27, 07:32:00]", "1979-05-27 7",
    ]

    /// A text with something of everything, to be mutated.
    private static let everything = #"""
        # A comment
        title = "TOML \u00e9 \"x\"" # another
        'quoted' = 'C:\Users'
        list = [ 1, 2.5, "three", [true, false], { a = 1, b.c = 'x' },
          1979-05-27T07:32:00Z, ]
        long = """
        first \
           second ""\""""
        raw = '''
        a\b''c'''

        [table.sub] # here
        key.dotted."x y" = 0xFF_00
        other = -1_000

        [[row]]
        name = "one"
        [row.inner]
        value = inf
        [[row]]
        date = 1979-05-27 07:32:00.25
        """#

    private static var mutants: [String] {
        var random = SeededGenerator(seed: 7)
        let letters = Array("\"'[]{}=,.#\n\r\t \\-_+:01aeTZ\u{1}ä".unicodeScalars)
        return (0..<4000).map { number in
            var text = Array(everything.unicodeScalars)
            for _ in 0...(number % 3) {
                let place = Int.random(in: 0..<text.count, using: &random)
                let letter = letters.randomElement(using: &random) ?? " "
                switch Int.random(in: 0..<4, using: &random) {
                case 0: text.insert(letter, at: place)
                case 1: text[place] = letter
                case 2: text.remove(at: place)
                default:
                    let end = min(text.count, place + Int.random(in: 1..<30, using: &random))
                    text.insert(contentsOf: text[place..<end], at: Int.random(in: 0..<text.count, using: &random))
                }
            }
            var mutant = String.UnicodeScalarView()
            mutant.append(contentsOf: text)
            return String(mutant)
        }
    }

    @Test func `it reads what Python reads, and refuses what Python refuses`() async throws {
        let values = (Self.strings + Self.words).map { "a = \($0)" }
        let texts = Self.keys.filter { !$0.hasPrefix("\u{feff}") } + Self.tables + values + Self.mutants
        let input = try JSONEncoder().encode(texts)
        let ended = try await run("/usr/bin/python3", ["-c", Self.script], bytes: Array(input), environment: [:])
        let theirs = try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [Any], "\(ended)")
        #expect(theirs.count == texts.count && theirs.count { !($0 is NSNull) } > 700)
        for (text, theirs) in zip(texts, theirs) {
            let ours: NSObject
            do throws(SettingsError) {
                let document = try TOMLDocument(text, file: "f")
                ours = Self.plain(.table(0), in: document.tables)
            } catch {
                ours = NSNull()
            }
            #expect(ours.isEqual(theirs), "\(text.debugDescription): \(ours), but Python reads \(theirs)")
        }
    }

    private static func plain(_ value: TOMLValue, in tables: [TOMLTable]) -> NSObject {
        switch value {
        case .string(let text): NSString(string: text)
        case .integer(let number): NSNumber(value: number)
        case .boolean(let truth): NSString(string: "boolean \(truth)")
        case .float(let number): NSString(string: "float " + (number.isNaN ? "nan" : hex(number)))
        case .moment: NSString(string: "moment")
        case .array(let elements): NSArray(array: elements.map { plain($0.value, in: tables) })
        case .table(let index):
            NSDictionary(dictionary: tables[index].entries.mapValues { plain($0.value, in: tables) })
        case .tables(let list): NSArray(array: list.map { plain(.table($0), in: tables) })
        }
    }

    /// A number as Python's `float.hex` writes it.
    private static func hex(_ number: Double) -> String {
        guard number.isFinite else { return number < 0 ? "-inf" : "inf" }
        guard number != 0 else { return number.sign == .minus ? "-0x0.0p+0" : "0x0.0p+0" }
        let digits = String(number.significandBitPattern, radix: 16)
        let padded = String(repeating: "0", count: 13 - digits.count) + digits
        return "\(number < 0 ? "-" : "")0x1.\(padded)p\(number.exponent < 0 ? "" : "+")\(number.exponent)"
    }

    @Test(arguments: [
        ("a = \"\\u0000\"", 1), ("a = \"b\u{0}\"", 1), ("\na = " + String(repeating: "[", count: 65), 2),
        (String(repeating: "a.", count: 64) + "a = 1", 1), ("a = 9223372036854775808", 1),
        ("a = 1\n\nb = '''\n\n'''\nc", 6), ("a = 1\n[a]", 2), ("a = 1\r\nb = [\r\n1,\r\n2 3]", 4),
        ("\u{feff}\u{feff}a = 1", 1),
    ])
    func `what is refused is named with its line`(text: String, line: Int) throws {
        let error = #expect(throws: SettingsError.self) { try TOMLDocument(text, file: "f") }
        #expect(
            error?.line == line && error?.message.text.hasPrefix("not valid TOML: ") == true,
            "\(String(describing: error))")
    }

    @Test func `many tables take no longer than their text`() throws {
        let text = String(repeating: "[[a]]\nb.c = 1\n", count: 70_000)
        #expect(try TOMLDocument(text, file: "f").headers.count == 70_000)
    }
}
