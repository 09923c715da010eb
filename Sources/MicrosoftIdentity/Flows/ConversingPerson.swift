import OAuth
import PluginKit
import PluginWire

/// The person as the host reaches them.
struct ConversingPerson: Person {
    let conversation: any Conversation

    func open(_ url: String, redirectURI: String) async -> PersonReply {
        PersonReply(await conversation.ask(.openURL(url: url, redirectURI: redirectURI)))
    }

    func show(_ code: DeviceAuthorization) async -> PersonReply {
        PersonReply(
            await conversation.ask(
                .showCode(
                    userCode: code.userCode, verificationURI: code.verificationURI, completeURI: code.completeURI,
                    message: code.message, expiresIn: code.expiresIn)))
    }

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
