import Testing

@testable import Tools

/// What counts as a profile that signs in at IAM Identity Center.
@Suite struct AWSProfileValueTests {
    private static func profiles(_ start: String, _ region: String, _ account: String, _ role: String) -> [AWSProfile] {
        AWSProfile.all(
            in: """
                [profile p]
                sso_session = s
                sso_account_id = \(account)
                SSO_ROLE_NAME: \(role)
                [sso-session s]
                sso_start_url = \(start)
                sso_region = \(region)
                """)
    }

    private static let start = "https://contoso.awsapps.com/start"

    @Test(arguments: [
        (
            start, "eu-central-1", "123456789012", "Dev",
            "https://portal.sso.eu-central-1.amazonaws.com/123456789012/Dev"
        ),
        (
            "\(start)/#/", "cn-north-1", "123456789012", "a+b",
            "https://portal.sso.cn-north-1.amazonaws.com.cn/123456789012/a+b"
        ),
        (start, "eusc-de-east-1", "123456789012", "x", "https://portal.sso.eusc-de-east-1.amazonaws.eu/123456789012/x"),
    ])
    func `a session's and a profile's keys are one`(
        start: String, region: String, account: String, role: String, url: String
    ) throws {
        let profile = try #require(Self.profiles(start, region, account, role).first)
        #expect(profile.url == url && profile.startURL == Self.start)
        #expect(profile.keys == ["sso_session", "sso_account_id", "SSO_ROLE_NAME"])
    }

    @Test(arguments: [
        ("http://contoso.awsapps.com/start", "eu-central-1", "123456789012", "Dev"),
        ("https://a b/start", "eu-central-1", "123456789012", "Dev"), (start, "evil.example/", "123456789012", "Dev"),
        (start, "", "123456789012", "Dev"), (start, "eu-central-1", "12345678901", "Dev"),
        (start, "eu-central-1", "123456789012", "Dev; rm"), (start, "eu-central-1", "123456789012", ""),
    ])
    func `what AWS would refuse is offered to nobody`(start: String, region: String, account: String, role: String) {
        #expect(Self.profiles(start, region, account, role).isEmpty)
    }

    @Test(arguments: [
        ("https://start.us-gov-home.awsapps.com/directory/contoso", true), ("https://start.home.awsapps.cn/x", true),
        ("https://identitycenter.us-gov.amazonaws.com/ssoins-1", true),
        ("https://ssoins-1.portal.cn-north-1.app.amazonwebservices.com.cn", true),
        ("https://ssoins-1.portal.eusc-de-east-1.api.amazonwebservices.eu", true), ("https://sso.contoso.com", false),
        ("https://app.aws.contoso.com", false),
    ])
    func `a start URL is AWS's or only leads there`(start: String, isAtAWS: Bool) throws {
        #expect(try #require(Self.profiles(start, "us-east-1", "123456789012", "Dev").first).kind.isEmpty == isAtAWS)
    }

    @Test func `the region is told once: by the start URL, by the option for all, or by one of its own`() throws {
        let usual = try #require(Self.profiles(Self.start, "us-east-1", "123456789012", "Dev").first)
        func told(_ known: [String: String]) -> [String] {
            usual.options(besides: known).map { "\($0.key)=\($0.value)" }
        }
        #expect(told([:]) == ["plugin.aws.region=us-east-1"])
        #expect(told(["region": "us-east-1"]).isEmpty)
        #expect(
            told(["region": "eu-west-1", "regions": "a=b"])
                == ["plugin.aws.regions=a=b contoso.awsapps.com=us-east-1"])
        #expect(told(["region": "eu-west-1", "regions": "contoso.awsapps.com=us-east-1"]).isEmpty)
        let named = "https://ssoins-1.portal.us-east-1.app.aws"
        #expect(
            try #require(Self.profiles(named, "us-east-1", "123456789012", "Dev").first).options(besides: [:]).isEmpty)
    }
}
