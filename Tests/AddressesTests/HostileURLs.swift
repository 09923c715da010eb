import Testing

/// URLs crafted to have a credential sent to another host, next to harmless ones.
///
/// `host` is the host that `StrictURL` must return; nil if it must reject the URL.
struct URLCase: Sendable, CustomTestStringConvertible {
    let url: String
    let host: String?

    init(_ url: String, _ host: String?) {
        (self.url, self.host) = (url, host)
    }

    var testDescription: String { url.debugDescription }

    /// Characters that join a neighbouring delimiter into one grapheme cluster.
    private static let marks = [
        "\u{301}", "\u{200D}", "\u{FE0F}", "\u{20E3}", "\u{1AB0}", "\u{3099}", "\u{E0100}", "\u{1F3FD}", "\u{200C}",
    ]

    private static let afterDelimiter = marks.flatMap { mark in
        [
            URLCase("https://evil.example/\(mark)@good.example/", "evil.example"),
            URLCase("https://evil.example?\(mark)@good.example/", "evil.example"),
            URLCase("https://evil.example#\(mark)@good.example/", "evil.example"),
            URLCase("https://user:\(mark)pass@good.example/", nil),
            URLCase("https://good.example@\(mark)evil.example/", nil),
            URLCase("https:/\(mark)/good.example/", nil),
            URLCase("https://good.example:\(mark)443/", nil),
        ]
    }

    private static let clusters =
        afterDelimiter + [
            URLCase("https://evil.example\u{D4E}/@good.example/", nil),
            URLCase("https://evil.example/\u{D4E}@good.example/", "evil.example"),
            URLCase("https://evil.example\u{600}?@good.example/", nil),
            URLCase("https://good.example\u{301}/", nil),
            URLCase("https://evil.example\r\n/@good.example/", nil),
        ]

    private static let userInformation = [
        URLCase("https://alice@good.example/", "good.example"),
        URLCase("https://alice:p%3Aw@good.example/", "good.example"),
        URLCase("https://good.example@evil.example/", "evil.example"),
        URLCase("https://good.example:443@evil.example/", "evil.example"),
        URLCase("https://@good.example/", "good.example"),
        URLCase("https://a@b@good.example/", nil),
        URLCase("https://good.example%40evil.example/", nil),
        URLCase("https://a%40b@good.example/", "good.example"),
        URLCase("https://evil.example%2f@good.example/", "good.example"),
        URLCase("https://evil.example%00@good.example/", nil),
        URLCase("https://a:%0a@good.example/", nil),
        URLCase("https://%ff@good.example/", nil),
        URLCase("https://evil.example\\@good.example/", nil),
        URLCase("https://good.example\\@evil.example/", nil),
        URLCase("https:\\\\good.example/", nil),
        URLCase("https://good.example/a\\b", nil),
        URLCase("https://evil.example;@good.example/", "good.example"),
        URLCase("https://evil.example&@good.example#@other.example/", "good.example"),
        URLCase("https://evil.example|@good.example/", nil),
        URLCase("https://evil.example[@good.example/", nil),
        URLCase("https://evil.example\"@good.example/", nil),
        URLCase("https://evil.example @good.example/", nil),
        URLCase("https://%zz@good.example/", nil),
        URLCase("https://ä@good.example/", nil),
    ]

    private static let names = [
        URLCase("https://good.example", "good.example"),
        URLCase("https://GOOD.Example/", "good.example"),
        URLCase("https://good.example?q=https://evil.example/", "good.example"),
        URLCase("https://good.example/Größe/%C3%9F?a[]=1", "good.example"),
        URLCase("HTTPS://good.example/", "good.example"),
        URLCase("http://good_one.example/", "good_one.example"),
        URLCase("https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
        URLCase("https://bücher.example/", nil),
        URLCase("https://good.example\u{FF0F}.evil.example/", nil),
        URLCase("https://good.example\u{2100}.evil.example/", nil),
        URLCase("https://good。example/", nil),
        URLCase("https://\u{212A}.example/", nil),
        URLCase("https://good\u{AD}.example/", nil),
        URLCase("https://good.example./", nil),
        URLCase("https://.good.example/", nil),
        URLCase("https://good..example/", nil),
        URLCase("https://./", nil),
        URLCase("https:///good.example/", nil),
        URLCase("https://", nil),
        URLCase("https://?good.example", nil),
        URLCase("https://%67ood.example/", nil),
        URLCase("https://good%2eexample/", nil),
        URLCase("https://good.example%2f.evil.example/", nil),
        URLCase("https://good.example%00.evil.example/", nil),
        URLCase("https://good.example%0d%0a/", nil),
        URLCase("https://good.example\t/", nil),
        URLCase("https://good\n.example/", nil),
        URLCase("https://good.example\u{7F}/", nil),
        URLCase(" https://good.example/", nil),
        URLCase("https://good.example/a b", nil),
        URLCase("https://good.example/%", nil),
        URLCase("https://good.example/%4", nil),
        URLCase("https://*.example/", nil),
        URLCase("https://{evil,good}.example/", nil),
        URLCase("https://good!.example/", nil),
        URLCase("https://-oProxyCommand=x/", nil),
        URLCase("https://\(String(repeating: "a", count: 64)).example/", nil),
        URLCase("https:good.example/", nil),
        URLCase("//good.example/", nil),
        URLCase("://good.example/", nil),
        URLCase("good.example/", nil),
        URLCase("ht!tps://good.example/", nil),
        URLCase("ä://good.example/", nil),
    ]

    private static let addresses = [
        URLCase("https://127.0.0.1/", "127.0.0.1"),
        URLCase("https://127.1/", nil),
        URLCase("https://0x7f.1/", nil),
        URLCase("https://0x7f000001/", nil),
        URLCase("https://0X7F.0.0.1/", nil),
        URLCase("https://0177.0.0.1/", nil),
        URLCase("https://2130706433/", nil),
        URLCase("https://1/", nil),
        URLCase("https://127.0.0.01/", nil),
        URLCase("https://127.0.0.256/", nil),
        URLCase("https://1.2.3.4.5/", nil),
        URLCase("https://127.0.0.1./", nil),
        URLCase("https://good.0x1/", nil),
        URLCase("https://[::1]/", "[::1]"),
        URLCase("https://[2001:DB8::1]:8443/", "[2001:db8::1]:8443"),
        URLCase("https://[fe80::1%25eth0]:8443/", "[fe80::1%eth0]:8443"),
        URLCase("https://[fe80::1%eth0]/", nil),
        URLCase("https://[fe80::1%25]/", nil),
        URLCase("https://[fe80::1%25a/b]/", nil),
        URLCase("https://[fe80::1%25a%5d]/", nil),
        URLCase("https://[::1]evil.example/", nil),
        URLCase("https://[::1].evil.example/", nil),
        URLCase("https://[::1/", nil),
        URLCase("https://::1/", nil),
        URLCase("https://[good.example]/", nil),
        URLCase("https://[v1.good]/", nil),
        URLCase("https://[:::1]/", nil),
        URLCase("https://[1:2:3:4:5:6:7:8:9]/", nil),
        URLCase("https://[127.0.0.1]/", nil),
        URLCase("https://[[::1]]/", nil),
        URLCase("https://[]/", nil),
    ]

    private static let ports = [
        URLCase("https://good.example:8443/", "good.example:8443"),
        URLCase("https://good.example:443/", "good.example:443"),
        URLCase("https://good.example:+443/", nil),
        URLCase("https://good.example:-1/", nil),
        URLCase("https://good.example:0443/", nil),
        URLCase("https://good.example:0/", nil),
        URLCase("https://good.example:65536/", nil),
        URLCase("https://good.example:4294967739/", nil),
        URLCase("https://good.example:/", nil),
        URLCase("https://good.example:44 3/", nil),
        URLCase("https://good.example:443:80/", nil),
        URLCase("https://good.example:\u{0664}\u{0664}\u{0663}/", nil),
        URLCase("https://good.example:443@evil.example:8443/", "evil.example:8443"),
    ]

    static let all = clusters + userInformation + names + addresses + ports
}
