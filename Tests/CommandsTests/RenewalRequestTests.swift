import Addresses
import Model
import Rules
import Testing

@testable import CommandKit
@testable import Commands
@testable import CredentialEngine
@testable import Diagnosis

/// What one process tells another to renew.
@Suite struct RenewalRequestTests {
    @Test func `all that decides a remembered answer is handed on`() throws {
        var request = CredentialRequest()
        (request.scheme, request.host) = ("https", RequestHost("h.example:8443"))
        (request.path, request.username) = ("a/b?c", "u")
        request.wwwAuthenticate = ["Bearer authorization_uri=\"https://login.example/t\""]
        (request.explicit.authority, request.explicit.tenant) = ("https://login.example/t", "contoso.com")
        (request.explicit.clientID, request.explicit.scopes) = ("client", ["s/one", "s/two"])
        (request.explicit.account, request.explicit.identity, request.explicit.token) = ("me", "release", .id)
        let lines = try #require(RenewalRequest(request: request, mark: "mark").encoded)
        let read = try #require(RenewalRequest(lines))
        let fields = CachedCredential.fields(of: request)
        #expect(CachedCredential.fields(of: read.request) == fields && read.mark == "mark")
        // A part that is new must be handed on, too.
        #expect(!fields.contains(nil), "\(fields)")
    }
}
