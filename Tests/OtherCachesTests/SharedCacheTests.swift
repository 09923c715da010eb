import JSON
import OtherCaches
import Testing
import Vectors

/// The location of Azure Identity for Python's caches.
@Suite struct SharedCacheTests {
    @Test(arguments: BrokerVectors.followed("cache-item"))
    func `a cache's item, and the files beside it`(_ vector: VectorCase) throws {
        let place = try #require(AzureIdentityCache(named: vector.text("name") ?? ""))
        #expect(place.schema == vector.expected("schema"))
        #expect(place.attributes == vector.expect["attributes"]?.members?.compactMapValues(\.string))
        #expect(place.label == vector.expected("label"))
        #expect("~/\(place.signal)" == vector.expected("signal") && "~/\(place.lock)" == vector.expected("lock"))
    }

    @Test(arguments: ["[]", "x", "{", "\"x\"", "bm90IGpzb24="])
    func `what is no cache is none`(text: String) {
        #expect(SharedCache(Array(text.utf8)) == nil)
    }

    @Test func `a section that is no object stays so`() throws {
        var cache = try #require(SharedCache(Array(#"{"Account":[1]}"#.utf8)))
        let account = try #require(OtherCache(unified: Array(Self.document.utf8))?.records.first)
        let isAdded = cache.add([account])
        #expect(!isAdded)
    }

    private static let document =
        #"{"Account":{"k":{"home_account_id":"u.t","environment":"login.microsoftonline.com","realm":"t","username":"a"}}}"#
}
