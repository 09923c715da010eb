import Foundation
import SeededRandom
import TestSupport
import Testing

/// The answers to many concurrent processes, checked against a model of the valid answers.
@Suite struct AnswerModelTests {
    static let users = ["alice@contoso.example", "carol@fabrikam.example"]
    static let path = "common/hello.git"

    @Test func `no interleaving of changes brings an answer back`() async throws {
        try await World.with(ownKernelKeys: true) { world in
            let model = AnswerModel()
            for user in Self.users { try await Self.login(user, world) }
            try await Self.edit(user: Self.users[0], world, model)
            // Until there is enough evidence.
            let end = ContinuousClock.now + .seconds(300 * Thoroughness.factor)
            let isOver = { @Sendable () async -> Bool in
                let outcome = await model.outcome
                return outcome.isTelling && outcome.answers >= 100 * Thoroughness.factor || ContinuousClock.now > end
            }
            await withTaskGroup { group in
                for worker in 0..<3 {
                    group.addTask {
                        var dice = SeededGenerator(seed: UInt64(worker) + 1)
                        while await !isOver(), (try? await Self.step(&dice, world, model)) != nil {}
                    }
                }
            }
            #expect(await isOver(), "a step failed")
            let outcome = await model.outcome
            #expect(outcome.violations.isEmpty, "\(outcome.violations.joined(separator: "\n"))")
            #expect(outcome.isTelling, "\(outcome)")
        }
    }

    private static func step(_ dice: inout SeededGenerator, _ world: World, _ model: AnswerModel) async throws {
        let user = users[Int.random(in: 0..<2, using: &dice)]
        switch Int.random(in: 0..<20, using: &dice) {
        case 0...12: try await get(world, model)
        case 13, 14: try await erase(world, model)
        case 15: try await logout(user, world, model)
        case 16, 17: try await login(user, world)
        default: try await edit(user: user, world, model)
        }
    }

    private static func get(_ world: World, _ model: AnswerModel) async throws {
        let (start, epoch) = (ContinuousClock.now, await model.epoch)
        let ended = try await world.get(path)
        guard let token = ended.value("password") else { return }
        await model.answered(token, user: ended.value("username") ?? "", since: start, epoch: epoch)
    }

    private static func erase(_ world: World, _ model: AnswerModel) async throws {
        guard let token = await model.latest else { return }
        let ended = try await world.lanyard(
            ["erase"], input: "url=\(world.sandbox.resource)/\(path)\nusername=x\npassword=\(token)\n")
        if ended.status == 0 { await model.erased(token) }
    }

    private static func logout(_ user: String, _ world: World, _ model: AnswerModel) async throws {
        let start = ContinuousClock.now
        if try await world.lanyard(["logout", user]).status == 0 { await model.signedOut(user, since: start) }
    }

    private static func login(_ user: String, _ world: World) async throws {
        let url = "\(world.sandbox.resource)/\(path)"
        try await world.lanyard(["login", url, "--account", user], world.browser(as: user))
    }

    private static func edit(user: String, _ world: World, _ model: AnswerModel) async throws {
        guard await model.beginEdit() else { return }
        let text = try String(contentsOfFile: world.configFile, encoding: .utf8)
        let rest = text.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("account = ") }
        let new = (["account = \"\(user)\""] + rest).joined(separator: "\n")
        try new.write(toFile: world.configFile, atomically: true, encoding: .utf8)
        await model.endEdit(user)
    }
}

/// What is known about tokens and the configuration at each time.
private actor AnswerModel {
    struct Outcome {
        var answers = 0
        var kills = 0
        var violations: [String] = []

        /// Whether the run proves anything: it doesn't if nothing was answered or revoked.
        var isTelling: Bool { answers >= 20 && kills >= 3 }
    }

    private(set) var outcome = Outcome()
    private(set) var latest: String?
    private var firstSeen: [String: (user: String, time: ContinuousClock.Instant)] = [:]
    private var dead: [String: (cause: String, time: ContinuousClock.Instant)] = [:]
    private var account = ""
    private var edits = 0
    private var isEditing = false

    /// The number of the configuration's edit in force; nil during an edit.
    var epoch: Int? { isEditing ? nil : edits }

    func answered(_ token: String, user: String, since start: ContinuousClock.Instant, epoch: Int?) {
        outcome.answers += 1
        latest = token
        if let death = dead[token], death.time <= start {
            outcome.violations.append("a token of \(user) was given \(start - death.time) after its \(death.cause)")
        }
        if let epoch, epoch == self.epoch, user != account {
            outcome.violations.append("\(user) answered where the configuration says \(account)")
        }
        if firstSeen[token] == nil { firstSeen[token] = (user, .now) }
    }

    func erased(_ token: String) { kill(token, "erase") }

    /// Answers seen before the sign-out started are gone; those seen during it may stay.
    func signedOut(_ user: String, since start: ContinuousClock.Instant) {
        for (token, seen) in firstSeen where seen.user == user && seen.time <= start { kill(token, "sign-out") }
    }

    func beginEdit() -> Bool {
        defer { isEditing = true }
        return !isEditing
    }

    func endEdit(_ user: String) {
        account = user
        edits += 1
        isEditing = false
    }

    private func kill(_ token: String, _ cause: String) {
        guard dead[token] == nil else { return }
        dead[token] = (cause, .now)
        outcome.kills += 1
    }
}
