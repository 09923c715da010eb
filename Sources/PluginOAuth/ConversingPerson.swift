package import OAuth
package import PluginKit
import PluginWire

/// The user, as reached through the host.
package struct ConversingPerson: Person {
    let conversation: any Conversation

    /// Creates the user of a conversation.
    package init(_ conversation: any Conversation) {
        self.conversation = conversation
    }

    /// Has the host open a page.
    package func open(_ url: String, redirectURI: String) async -> PersonReply {
        PersonReply(await conversation.ask(.openURL(url: url, redirectURI: redirectURI)))
    }

    /// Has the host show a code.
    package func show(_ code: DeviceAuthorization) async -> PersonReply {
        PersonReply(
            await conversation.ask(
                .showCode(
                    userCode: code.userCode, verificationURI: code.verificationURI, completeURI: code.completeURI,
                    message: code.message, expiresIn: code.expiresIn)))
    }

    /// Has the host show a progress message.
    package func progress(_ message: String) async {
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
