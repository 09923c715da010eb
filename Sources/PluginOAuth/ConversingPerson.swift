import OAuth
import PluginKit
import PluginWire

/// The user, as reached through the host.
struct ConversingPerson: Person {
    let conversation: any Conversation

    /// Has the host open a page.
    func open(_ url: String, redirectURI: String) async -> PersonReply {
        PersonReply(await conversation.ask(.openURL(url: url, redirectURI: redirectURI)))
    }

    /// Has the host show a code.
    func show(_ code: DeviceAuthorization) async -> PersonReply {
        PersonReply(
            await conversation.ask(
                .showCode(
                    userCode: code.userCode, verificationURI: code.verificationURI, completeURI: code.completeURI,
                    message: code.message, expiresIn: code.expiresIn)))
    }

    /// Has the host show a progress message.
    func progress(_ message: String) async {
        await conversation.progress(message)
    }
}

extension PersonReply {
    fileprivate init(_ reply: PluginReply) {
        self =
            switch reply {
            case .done, .answer: .done
            case .redirected(let address): .pasted(address)
            case .unsupported: .unavailable
            case .cancelled: .cancelled
            }
    }
}
