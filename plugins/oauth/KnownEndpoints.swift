import Addresses
import OAuth
import PluginWire

/// The endpoints that are known of a kind of issuer, which spare it from being asked; nil for one that it lacks or names itself.
struct KnownEndpoints: Sendable {
    var authorization: String?
    var token: String?
    var deviceAuthorization: String?
    var userinfo: String?
    var revocation: String?

    /// Creates the endpoints of a kind at an issuer's URL; none of a kind that isn't known.
    init(of kind: String?, at authority: StrictURL) {
        let base = "https://" + ([authority.hostText[...]] + authority.segments).joined(separator: "/")
        switch kind {
        case "github":
            authorization = "\(base)/login/oauth/authorize"
            token = "\(base)/login/oauth/access_token"
            deviceAuthorization = "\(base)/login/device/code"
        case "gitlab":
            authorization = "\(base)/oauth/authorize"
            token = "\(base)/oauth/token"
            deviceAuthorization = "\(base)/oauth/authorize_device"
            userinfo = "\(base)/oauth/userinfo"
            revocation = "\(base)/oauth/revoke"
        case "bitbucket":
            authorization = "\(base)/site/oauth2/authorize"
            token = "\(base)/site/oauth2/access_token"
            userinfo = "https://api.bitbucket.org/2.0/user"
        case "bitbucket-dc":
            authorization = "\(base)/rest/oauth2/latest/authorize"
            token = "\(base)/rest/oauth2/latest/token"
        case "gitea", "forgejo":
            authorization = "\(base)/login/oauth/authorize"
            token = "\(base)/login/oauth/access_token"
            userinfo = "\(base)/login/oauth/userinfo"
        case "huggingface":
            authorization = "\(base)/oauth/authorize"
            token = "\(base)/oauth/token"
            deviceAuthorization = "\(base)/oauth/device"
            userinfo = "\(base)/oauth/userinfo"
        case "googlesource":
            // Its page is found out.
            token = "https://oauth2.googleapis.com/token"
            userinfo = "https://openidconnect.googleapis.com/v1/userinfo"
            revocation = "https://oauth2.googleapis.com/revoke"
        default: break
        }
    }

    fileprivate var all: [String] {
        [authorization, token, deviceAuthorization, userinfo, revocation].compactMap(\.self)
    }
}

extension Endpoints {
    /// Returns these endpoints, overridden by the known ones.
    func overlaid(_ known: KnownEndpoints) -> Endpoints {
        var all = self
        all.authorization = known.authorization ?? authorization
        all.token = known.token ?? token
        all.deviceAuthorization = known.deviceAuthorization ?? deviceAuthorization
        all.userinfo = known.userinfo ?? userinfo
        all.revocation = known.revocation ?? revocation
        return all
    }
}

extension PluginRequest {
    /// The hosts of the authority, and of what the configuration names for it and is known of its kind.
    func issuerPlaces(_ traits: IssuerTraits) -> IssuerHosts {
        IssuerHosts(of: [authority] + traits.endpoints.all, named: issuerHosts)
    }
}
