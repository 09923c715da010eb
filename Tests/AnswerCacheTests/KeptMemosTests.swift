import AnswerCache
import Foundation
import TestSupport
import Testing

/// The memos that lanyard stores for plugins.
@Suite struct KeptMemosTests {
    private static func with(_ body: (KeptMemos, String) throws -> Void) async throws {
        try await ScratchDirectory.with { scratch in
            try body(KeptMemos(in: scratch.path), scratch.path + "/lanyard/memos")
        }
    }

    @Test func `a memo counts until it ends, and for what it is about`() async throws {
        try await Self.with { memos, _ in
            memos.keep("é \"x\"", about: "a", now: 1000, for: 10)
            for (now, memo) in [(999, nil), (1000, "é \"x\""), (1009, "é \"x\""), (1010, nil)] {
                #expect(memos.memo(about: "a", now: now) == memo, "\(now)")
            }
            #expect(memos.memo(about: "b", now: 1000) == nil)
            memos.keep("other", about: "a", now: 1001, for: 10)
            #expect(memos.memo(about: "a", now: 1005) == "other")
            memos.forget("a")
            #expect(memos.memo(about: "a", now: 1005) == nil)
        }
    }

    @Test func `only this user's own files count, and no link is followed`() async throws {
        try await Self.with { memos, folder in
            memos.keep("x", about: "a", now: 1000, for: 10)
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
            let file = "\(folder)/\(name)"
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            #expect(memos.memo(about: "a", now: 1000) == nil)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            try FileManager.default.moveItem(atPath: file, toPath: folder + "/../moved")
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: folder + "/../moved")
            #expect(memos.memo(about: "a", now: 1000) == nil)
        }
    }

    @Test func `there are never many, and none without a place`() async throws {
        try await Self.with { memos, folder in
            for number in 0..<600 { memos.keep("x", about: "\(number)", now: 1000, for: 10) }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(names.count <= 256)
            #expect(memos.memo(about: "599", now: 1000) == "x")
        }
        let none = KeptMemos(in: nil)
        none.keep("x", about: "a", now: 1000, for: 10)
        #expect(none.memo(about: "a", now: 1000) == nil)
    }
}
