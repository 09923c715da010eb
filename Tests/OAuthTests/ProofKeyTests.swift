import Testing
import Vectors

@testable import OAuth

struct ProofKeyTests {
    @Test(arguments: Vectors.followed("pkce"))
    func `the proof key is RFC 7636's`(_ vector: VectorCase) {
        let key = vector.text("code_verifier").map { ProofKey(verifier: $0) } ?? ProofKey()
        #expect(ProofKey.method == vector.expected("code_challenge_method"))
        if let challenge = vector.expected("code_challenge") { #expect(key.challenge == challenge) }
        #expect((43...128).contains(key.verifier.count))
    }
}
