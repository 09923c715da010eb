import PluginHost
import Rules
import Terminal
import TokenAcquisition

/// What is known about a URL: the token it gets, the reasons, and what would be done for it; never a secret.
struct Explanation: Sendable {
    /// What maps the URL.
    enum Mapping: Sendable {
        case rule(Rule)
        /// The resource's name and the plugin that knows its host.
        case wellKnown(String, plugin: String)
        case nothing
    }

    /// A rule that is not the one, and why.
    struct SkippedRule: Sendable {
        let rule: Rule
        let reason: String
        /// Whether it could have been meant: its host is the URL's, or one of the two is below the other.
        let isNear: Bool
        /// Whether it maps the URL, too.
        let isMatch: Bool
    }

    /// How git stands to the URL.
    struct GitView: Sendable {
        let helpers: GitHelpers
        /// The lanyard among them that git doesn't find.
        let missing: GitHelpers.Missing?
        let sendsPath: Bool
    }

    /// How a tool stands to the URL.
    struct ToolView: Sendable {
        let name: ToolName
        /// Whether it can name more of a URL than its host.
        let sendsPath: Bool
        /// Whether it takes credentials of several parts.
        let takesFields: Bool
        /// Whether it asks for no credential at such a URL.
        let asksNothing: Bool
        /// What it asks for, one fact a line.
        let asks: [String]
        /// How it is configured; nil if lanyard doesn't configure such tools.
        let uses: ToolUse?
        /// What it gets, after its name and "gets".
        var gets = "no credential"
        /// What lanyard prints for it, secrets masked; nothing if that isn't known yet.
        var reads: [String] = []
        /// Whether there is a credential, but none that the tool can use.
        var isUnusable = false
        /// The exit status; nil if lanyard goes on, or it isn't known yet.
        var status: Int32?
    }

    /// What `get` would do.
    struct Next: Sendable {
        /// As programs read it (docs/diagnosis.md).
        enum Step: String {
            case askAgent = "ask-agent"
            case answer
            case exchange
            case askBroker = "ask-broker"
            case renew
            case tryRenewal = "try-renewal"
            case authenticate
            case signIn = "sign-in"
            case unlock
            case password
            case nothing
            case fail
        }

        let step: Step
        /// For people, after "get would".
        let text: String
        var hints: [Hint] = []
        var status: ExitStatus = .done
        /// Why it fails, if it does.
        var failure: Failure?

        init(step: Step, text: String, hints: [Hint] = [], status: ExitStatus = .done) {
            self.step = step
            self.text = text
            self.hints = hints
            self.status = status
        }

        /// It fails; `before` and `after` go around the message.
        init(_ failure: Failure, _ before: String = "fail: ", after: String = "") {
            self.init(
                step: .fail, text: before + failure.message + after, hints: failure.hints, status: failure.status)
            self.failure = failure
        }
    }

    let url: String
    /// The socket of the agent that is asked instead of what follows; nil if this machine answers by itself.
    var agent: String?
    var mapping = Mapping.nothing
    var skipped: [SkippedRule] = []
    var wanted: TokenRequest?
    /// How the account came to be named, if it is.
    var namedBy: String?
    /// What named the identity, if there is one.
    var identityNamedBy: String?
    var decision: Decision?
    /// Whether an answer that was given before would be given again.
    var isRemembered = false
    /// Whether the client has no secret stored, which would allow it further ways to sign in.
    var lacksSecret = false
    /// The host that the authority's could be mistaken for; nil if there is none.
    var lookAlike: String?
    /// The name of a client that gets tokens for a well-known host without an app of one's own; nil if there is none.
    var offeredClient: String?
    /// Whether the tool names a token instead of a place.
    var isByName = false
    /// Whether tokens may be sent to the URL.
    var isTokenPlace = true
    var git: GitView?
    /// Nil unless the explanation is for one tool.
    var tool: ToolView?
    /// What the URL's server says by itself; nil if it wasn't asked.
    var server: ServerAnswer?
    /// The issuer that the URL's host is, or may be by what its server says; nil if neither tells.
    var issuer: PluginIssuer?
    var next = Next(step: .nothing, text: "print nothing")
    var now: Int
    let context: CommandContext
}
