@testable import TokenAcquisition

extension FuzzTarget {
    /// What one lanyard tells another about a refresh token that it redeems: an order, or a line of the answer.
    static let redemption = FuzzTarget("redemption") { input in
        if let order = Redemption(input) {
            try requireSame(order.encoded, Redemption(order.encoded)?.encoded, "an order is another after a round trip")
        }
        if let message = RedemptionMessage(input), let line = message.line {
            try require(line.dropLast().allSatisfy { $0 >= 0x20 }, "a message of several lines")
            try require(RedemptionMessage(line) == message, "a message is another after a round trip")
        }
    }
}
