import PluginWire
import Secrets

/// One operation, run beside the reading of its replies.
struct OperationRunner {
    /// How long a cancelled operation may take to end before the process does.
    static let grace = Duration.seconds(3)

    let plugin: any AuthorityPlugin
    let request: PluginRequest
    let conversation: StreamConversation

    /// The block that ends the conversation, or nil if the host went away and the operation did not end in time.
    func run(replies: AsyncStream<Attributes>) async -> Attributes? {
        if request.operation == .describe { return answer { () throws(PluginError) in plugin.description } }
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
            let result: PluginResult
            switch request.operation {
            case .authorize: result = try await plugin.authorize(request, conversation)
            case .renew: result = try await plugin.renew(request)
            case .silent: result = try await plugin.silent(request)
            case .authenticate: result = try await plugin.authenticate(request, conversation)
            case .exchange:
                let credential = try await plugin.exchange(request)
                return Self.encode { () throws(ProtocolError) in try credential.wire() }
            case .register:
                let registration = try await plugin.register(request)
                return Self.encode { () throws(ProtocolError) in try registration.wire() }
            case .probe:
                let found = try await plugin.probe(request)
                return Self.encode { () throws(ProtocolError) in try found.wire() }
            case .signOut:
                try await plugin.signOut(request, conversation)
                return Self.done
            case .revoke:
                try await plugin.revoke(request)
                return Self.done
            case .unregister:
                try await plugin.unregister(request)
                return Self.done
            case .describe: return answer { () throws(PluginError) in plugin.description }
            }
            return Self.encode { () throws(ProtocolError) in try result.wire() }
        } catch {
            return Self.encode(error)
        }
    }

    private func answer(_ description: () throws(PluginError) -> PluginDescription) -> Attributes {
        do throws(PluginError) {
            let description = try description()
            return Self.encode { () throws(ProtocolError) in try description.wire() }
        } catch {
            return Self.encode(error)
        }
    }

    /// A result without keys, which is all that `sign-out`, `revoke` and `unregister` have to say.
    private static var done: Attributes {
        encode { () throws(ProtocolError) in
            var block = Attributes()
            try block.append("event", "result")
            return block
        }
    }

    static func encode(_ error: PluginError) -> Attributes {
        encode { () throws(ProtocolError) in try error.wire() }
    }

    /// The block, or an `internal` error if the plugin's values don't fit on the wire.
    private static func encode(_ block: () throws(ProtocolError) -> Attributes) -> Attributes {
        do throws(ProtocolError) {
            return try block()
        } catch {
            let fault = PluginError(.internal, "the plugin's answer cannot be written as a message")
            return (try? fault.wire()) ?? Attributes()
        }
    }
}
