import Addresses
import Testing

@Suite struct MailDomainTests {
    @Test(
        arguments: [
            ("alice@contoso.example", "contoso.example"), ("alice@Sub.Contoso.Example", "sub.contoso.example"),
            ("a_b.example#EXT#@fabrikam.example", "fabrikam.example"), ("\"a@b\"@contoso.example", "contoso.example"),
            ("alice", nil), ("alice@", nil), ("@", nil), ("", nil), ("alice@contoso", nil), ("alice@consumers", nil),
            ("alice@contoso.example.", nil), ("alice@.example", nil), ("alice@contoso..example", nil),
            ("alice@contoso.example:443", nil), ("alice@contoso.example/common", nil), ("alice@[::1]", nil),
            ("alice@contoso example", nil), ("alice@contöso.example", nil), ("alice@contoso.example\u{301}", nil),
            ("alice@contoso.example\n", nil), ("@contoso.example", "contoso.example"),
        ] as [(String, String?)])
    func `an address has one domain`(address: String, domain: String?) {
        #expect(address.mailDomain == domain)
    }
}
