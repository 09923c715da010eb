import Testing

@testable import Terminal

/// A menu, key by key.
@Suite struct MenuTests {
    private static let choices = [
        "alice@contoso.example   Alice Archer, work or school", "malice@fabrikam.example  Mal Ice, personal",
        "Zoë@contoso.example     Zoë Zuse, work or school", "sign in with another account",
    ]

    /// Types the keys; returns the last outcome and the menu.
    private func type(
        _ keys: String, choices: [String] = choices, columns: Int = 80, rows: Int = 24
    ) -> (last: Menu.Effect?, menu: Menu) {
        var menu = Menu(choices, columns: columns, rows: rows)
        var last: Menu.Effect?
        for byte in keys.utf8 { last = menu.receive(byte) }
        return (last, menu)
    }

    private static let up = "\u{1B}[A"
    private static let down = "\u{1B}OB"

    private static let dialogues: [(String, Menu.Effect)] = [
        ("\r", .chosen(0)), (down + "\r", .chosen(1)), (up + "\n", .chosen(3)), (down + down + up + "\r", .chosen(1)),
        (up + down + "\r", .chosen(0)), ("\u{1B}[F\r", .chosen(3)), (down + "\u{1B}[1~\r", .chosen(0)),
        ("\u{E}\u{E}\u{10}\r", .chosen(1)), ("\t\r", .chosen(1)), ("2\r", .chosen(1)), ("4\u{7F}3\r", .chosen(2)),
        ("ali\r", .chosen(0)), ("MALICE\r", .chosen(1)), ("ali" + down + "\r", .chosen(1)),
        ("school" + down + "\r", .chosen(2)),
        ("zoë\r", .chosen(2)), ("zoë\u{7F}\u{7F}\u{7F}\r", .chosen(0)), ("another\r", .chosen(3)),
        (" 3 \r", .chosen(2)),
        ("nobody\r", .unchanged), ("9\r", .unchanged), ("0\r", .unchanged), ("nobody\u{15}\r", .chosen(0)),
        ("nobody" + down, .unchanged), ("\u{4}", .end), ("a\u{4}", .unchanged),
        ("\u{1B}[200~2\u{1B}[201~\r", .chosen(1)),
        ("\u{1B}[5~", .unchanged), ("\u{1}", .unchanged),
    ]

    @Test(arguments: dialogues)
    func `keys choose`(_ keys: String, _ outcome: Menu.Effect) {
        #expect(type(keys).last == outcome)
    }

    @Test func `the tenth is chosen by both its digits`() {
        let many = (1...12).map { "user\($0)@contoso.example" }
        #expect(type("12\r", choices: many).last == .chosen(11))
        #expect(type("1\r", choices: many).last == .chosen(0))
        #expect(type("user1" + Self.down + "\r", choices: many).last == .chosen(9), "user1, user10, user11, user12")
    }

    @Test func `what is typed leaves the choices that have it, with their numbers`() {
        let lines = type("fab").menu.text.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].hasPrefix("> 2) malice@fabrikam.example"), "\(lines)")
        #expect(lines[1] == "lanyard: arrows, number or name; Enter picks the marked one: fab")
        #expect(type("xyz").menu.text.hasPrefix("  no match\n"))
    }

    @Test(arguments: [(80, 24), (20, 24), (80, 5), (1, 1)])
    func `no line reaches the last column, and the mark is always to be seen`(_ columns: Int, _ rows: Int) {
        let many = (1...40).map { "日本\($0)@contoso.example, a name that is longer than any narrow screen is wide" }
        var menu = Menu(many, columns: columns, rows: rows)
        for _ in 0..<45 {
            let lines = menu.text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count == menu.rows && menu.rows <= max(rows - 3, 2))
            #expect(lines.count { $0.hasPrefix("> ") } == 1)
            #expect(lines.allSatisfy { line in line.reduce(0) { $0 + $1.columns } < max(columns, 11) }, "\(lines)")
            for byte in Self.down.utf8 { _ = menu.receive(byte) }
        }
    }

    @Test func `what is pasted into it shows nothing that a terminal obeys`() {
        let menu = type("\u{202E}\u{9B}31m" + String(repeating: "x", count: 500)).menu
        #expect(!menu.text.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{9B}" || $0 == "\u{1B}" })
        #expect(menu.text.utf8.count < 200)
    }

    @Test(arguments: [
        ("https://a.example/x?y=z;1", "\u{1B}]8;;https://a.example/x?y=z;1\u{1B}\\here\u{1B}]8;;\u{1B}\\"),
        ("https://a.example/\u{1B}[31m", nil), ("https://a.example/ü", nil),
        ("https://a.example/" + String(repeating: "x", count: 4000), nil),
    ])
    func `a link is one only if its address can be written in it`(_ url: String, _ text: String?) {
        #expect(Hyperlink("here", to: url)?.text == text)
    }
}
