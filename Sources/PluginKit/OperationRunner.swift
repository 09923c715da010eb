import PluginWire
import Secrets

/// Runs one operation while its replies are read.
struct OperationRunner {
    /// How long a cancelled operation may take to end before the process exits.
    static let grace = Duration.seconds(3)

    let plugin: any AuthorityPlugin
    let request: PluginRequest
    let conversation: StreamConversation

    /// Returns the message that ends the conversation; nil if the host is gone and the operation didn't end in time.
    func run(replies: AsyncStream<Attributes>) async -> Attributes? {
        let (outcomes, outcome) = AsyncStream<Attributes?>.makeStream()
        let operation = Task { outcome.yield(await perform()) }
        let listener = Task {
            for await block in replies { await conversation.receive(block) }
            await conversation.close()
            operation.cancel()
            try? await Task.sleep(for: Self.grace)
            outcome.yield(nil)
        }
        defer { listener.cancel() }
        for await ending in outcomes { return ending }
        return nil
    }

    private func perform() async -> Attributes {
        do throws(PluginError) {
            return Self.encode(try await answer())
        } catch {
            return Self.encode(error)
        }
    }

    private func answer() async throws(PluginError) -> any PluginAnswer {
        switch request.operation {
        case .authorize: return try await plugin.authorize(request, conversation)
        case .renew: return try await plugin.renew(request)
        case .silent: return try await plugin.silent(request)
        case .authenticate: return try await plugin.authenticate(request, conversation)
        case .exchange: return try await plugin.exchange(request)
        case .register: return try await plugin.register(request)
        case .probe: return try await plugin.probe(request)
        case .describe: return plugin.description
        case .signOut: try await plugin.signOut(request, conversation)
        case .revoke: try await plugin.revoke(request)
        case .unregister: try await plugin.unregister(request)
        }
        return Done()
    }

    /// A result without keys, as for `sign-out`, `revoke` and `unregister`.
    private struct Done: PluginAnswer {
        func write(to writer: inout WireWriter) {}
    }

    /// Encodes a message; returns an `internal` error if the plugin's values aren't valid in the protocol.
    static func encode(_ answer: any PluginAnswer) -> Attributes {
        do throws(ProtocolError) {
            return try answer.wire()
        } catch {
            let fault = PluginError(.internal, "the plugin's answer cannot be written as a message")
            return (try? fault.wire()) ?? Attributes()
        }
    }
}
