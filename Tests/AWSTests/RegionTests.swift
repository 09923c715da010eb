import Foundation
import PluginWire
import Secrets
import Testing

@testable import AWS

/// Where AWS's services are, by the names of their hosts.
struct RegionTests {
    private static func request(_ options: [String: String] = [:]) -> PluginRequest {
        var request = PluginRequest(.exchange)
        request.authority = "https://contoso.awsapps.com/start"
        request.options = options
        return request
    }

    @Test(arguments: [
        ("123456789012.dkr.ecr.eu-central-1.amazonaws.com", "https://api.ecr.eu-central-1.amazonaws.com/"),
        ("123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com", "https://api.ecr-fips.us-gov-west-1.amazonaws.com/"),
        ("123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn", "https://api.ecr.cn-north-1.amazonaws.com.cn/"),
        ("123456789012.dkr.ecr.eusc-de-east-1.amazonaws.eu", "https://api.ecr.eusc-de-east-1.amazonaws.eu/"),
        ("123456789012.dkr-ecr.us-east-1.on.aws", "https://ecr.us-east-1.api.aws/"),
        ("123456789012.dkr-ecr-fips.us-east-2.on.aws", "https://ecr-fips.us-east-2.api.aws/"),
        (
            "123456789012.dkr-ecr.cn-north-1.on.amazonwebservices.com.cn",
            "https://ecr.cn-north-1.api.amazonwebservices.com.cn/"
        ),
        ("registry.contoso.com", "https://api.ecr.ap-south-1.amazonaws.com/"),
    ])
    func `a registry's password is asked for in its region and partition`(_ host: String, _ url: String) throws {
        #expect(try AWSService(.registry, at: host, Self.request(["region": "ap-south-1"])).url == url)
    }

    @Test(arguments: [
        (
            "con-toso-123456789012.d.codeartifact.eu-west-1.amazonaws.com",
            "https://codeartifact.eu-west-1.amazonaws.com/v1/authorization-token?domain=con-toso&domain-owner=123456789012"
        ),
        (
            "a-123456789012.codeartifact.eu-west-1.on.aws",
            "https://codeartifact.eu-west-1.api.aws/v1/authorization-token?domain=a&domain-owner=123456789012"
        ),
    ])
    func `CodeArtifact's domain and owner are in the host`(_ host: String, _ url: String) throws {
        #expect(try AWSService(.repository, at: host, Self.request()).url == url)
    }

    @Test(arguments: [
        "contoso.d.codeartifact.eu-west-1.amazonaws.com", "contoso-1.d.codeartifact.eu-west-1.amazonaws.com",
        "contoso-123456789012.d.codeartifact.evil.amazonaws.com", "contoso.com",
    ])
    func `another host is none of CodeArtifact's`(_ host: String) {
        #expect(throws: PluginError.self) { try AWSService(.repository, at: host, Self.request()) }
    }

    @Test(arguments: [
        ("ssoins-1.portal.eu-central-1.app.aws", "eu-central-1"),
        ("ssoins-1.eu-west-1.portal.amazonaws.com", "eu-west-1"),
        ("ssoins-1.portal.cn-north-1.app.amazonwebservices.com.cn", "cn-north-1"),
        ("ssoins-1.portal.eusc-de-east-1.api.amazonwebservices.eu", "eusc-de-east-1"),
        ("start.us-gov-home.awsapps.com", nil), ("identitycenter.us-gov.amazonaws.com", nil),
        ("a.portal.eu-central-1.contoso.com", nil),
    ])
    func `a start URL's host may have the region in its name`(_ host: String, _ region: String?) {
        #expect(StartURL.region(inHost: host) == region)
    }

    @Test func `ECR Public is in one region`() throws {
        let service = try AWSService(.publicRegistry, at: "public.ecr.aws", Self.request())
        #expect(service.url == "https://api.ecr-public.us-east-1.amazonaws.com/" && service.home.name == "us-east-1")
    }

    @Test(arguments: ["", "eu", "eu-central", "eu-central-1.evil.example", "EU-central-1", "eu-central-100", "a/b-c-1"])
    func `what is no region makes no host`(_ name: String) {
        #expect(throws: PluginError.self) { try Region(name, Self.request()) }
    }

    @Test(arguments: ["x", "", "eyJhIjoxfQ"])
    func `a refresh token without its client, or whose client has ended, can't be redeemed`(_ kept: String) async {
        let ended = #"{"client": {"clientID": "c", "secret": "s", "end": 1}, "refreshToken": "t"}"#
        for text in [kept, Data(ended.utf8).base64EncodedString()] where !text.isEmpty {
            var request = Self.request(["region": "eu-central-1"])
            request.operation = .renew
            request.refreshToken = Secret(text)
            let error = await #expect(throws: PluginError.self) {
                try await AWSPlugin(environment: [:]).renew(request)
            }
            #expect(error?.code == .interactionRequired && error?.reasons == [.deadToken])
        }
    }
}
