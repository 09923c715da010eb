import Testing

@testable import Terminal

/// Rows in columns, on narrow screens and without a screen.
@Suite struct TableTests {
    private static let rows = [["ok", "git.version", "2.39"], ["warning", "path", "a text that is too long for it"]]

    @Test func `columns are as wide as their widest cells, and nothing follows a row's last word`() {
        let lines = Table(Self.rows + [["", "x", ""]]).wrapped(columns: nil, indent: 0)
        #expect(
            lines == [
                "ok       git.version  2.39", "warning  path         a text that is too long for it", "         x",
            ])
    }

    @Test func `a last cell goes on below itself`() {
        let lines = Table(Self.rows).wrapped(columns: 48, indent: 3)
        #expect(
            lines[1] == "warning  path         a text that is too long\n" + String(repeating: " ", count: 25) + "for it"
        )
    }

    @Test func `a column is as wide as it is told to be, or wider`() {
        #expect(Table([["a", "b"]], atLeast: [4]).wrapped(columns: 80, indent: 0) == ["a     b"])
        #expect(Table([["abcdef", "b"]], atLeast: [4]).wrapped(columns: 80, indent: 0) == ["abcdef  b"])
    }

    @Test func `the column that can spare most gives way, and none more than it may`() {
        let rows = [["0123456789", "abc"], ["x", "y"]]
        #expect(Table(rows).cut(columns: nil, indent: 2, to: [4, 2]) == ["0123456789  abc", "x           y"])
        #expect(Table(rows).cut(columns: 13, indent: 2, to: [4, 2]) == ["01234…  abc", "x       y"])
        #expect(Table(rows).cut(columns: 1, indent: 2, to: [4, 2]) == ["012…  a…", "x     y"])
    }

    @Test func `a table of nothing has no lines`() {
        #expect(Table([]).wrapped(columns: 80, indent: 0).isEmpty)
    }
}
