import Foundation
import Testing

@testable import ParseSwift

@Suite struct CodingTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00.000Z", 0.0),
        ("2024-02-29T23:59:59.999Z", 1_709_251_199.999),
        ("1969-12-31T23:59:59.999Z", -0.001),
        ("2000-03-01T00:00:00.000Z", 951_868_800),
        ("0001-01-01T00:00:00.000Z", -62_135_596_800),
        ("9999-12-31T23:59:59.000Z", 253_402_300_799),
    ])
    func `dates are written and read in UTC with milliseconds`(text: String, seconds: Double) throws {
        #expect(ParseDate.string(from: Date(timeIntervalSince1970: seconds)) == text)
        let date = try #require(ParseDate.date(from: text))
        #expect(ParseDate.string(from: date) == text)
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.000_01)
    }

    @Test(arguments: ["2024-10-24T21:13:17Z", "2024-10-24T21:13:17.1Z", "2024-10-24T21:13:17.123456Z"])
    func `fractions of any length are read, none too`(text: String) {
        #expect(ParseDate.date(from: text) != nil)
    }

    @Test(arguments: [
        "", "2024", "2024-10-24", "2024-13-24T21:13:17Z", "2024-10-24T25:13:17Z", "2024-10-24T21:13:17",
        "2024-10-24T21:13:17.Z", "2024-10-24T21:13:17+01:00", "x024-10-24T21:13:17Z", "2024-10-24T21:13:17Zx",
    ])
    func `other texts are no dates`(text: String) {
        #expect(ParseDate.date(from: text) == nil)
    }

    @Test func `random dates agree with Foundation`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix(state: seed)
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'"
        for _ in 0..<200 {
            let milliseconds = Int64.random(in: -2_000_000_000_000...8_000_000_000_000, using: &random)
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            #expect(ParseDate.string(from: date) == format.string(from: date), "seed \(seed)")
            #expect(ParseDate.date(from: ParseDate.string(from: date)) == date, "seed \(seed)")
        }
    }

    @Test func `JSON is written with its signs escaped and read back`() throws {
        let tree = JSONTree.object([
            "b": .array([.null, .bool(true), .int(-1), .double(0.1)]), "a": .string("\"\\\n\t\u{1}ü😀/"),
        ])
        #expect(tree.text == #"{"a":"\"\\\n\t\u0001ü😀/","b":[null,true,-1,0.1]}"#)
        #expect(try JSONTree(parsing: tree.data) == tree)
        #expect(try JSONTree(parsing: Data("9007199254740993".utf8)) == .int(9_007_199_254_740_993))
    }

    @Test func `the public encoder skips what it is told, at the top only`() throws {
        let note = Note(
            objectId: "n1",
            createdAt: Date(),
            updatedAt: Date(),
            title: "T",
            score: 1,
            parts: [Part(id: "p", className: "c")]
        )
        func text(_ skip: ParseEncoder.SkipKeys) throws -> String {
            String(decoding: try note.getEncoder().encode(note, skipKeys: skip), as: UTF8.self)
        }
        #expect(try text(.object) == #"{"parts":[{"className":"c","id":"p"}],"score":1,"title":"T"}"#)
        #expect(try text(.customObjectId).contains(#""objectId":"n1""#))
        #expect(try text(.none).contains(#""createdAt":{"__type":"Date","iso":""#))
        #expect(try !text(.custom(["title"])).contains("title"))
    }

    @Test func `numbers JSON does not have are refused`() {
        struct Bad: ParseEncodable { var number = Double.infinity }
        #expect(throws: EncodingError.self) { try ParseEncoder().encode(Bad(), skipKeys: .none) }
    }

    @Test func `the coders of a model agree`() throws {
        let note = Note(
            objectId: "n1",
            createdAt: Date(timeIntervalSince1970: 1),
            title: "T",
            due: Date(timeIntervalSince1970: 2)
        )
        let data = try Note.getJSONEncoder().encode(note)
        #expect(try Note.getDecoder().decode(Note.self, from: data) == note)
    }

    @Test func `errors carry code and words, and keep unknown numbers`() throws {
        func read(_ text: String) throws -> ParseError {
            try JSONDecoder().decode(ParseError.self, from: Data(text.utf8))
        }
        #expect(try read(#"{"code":101,"error":"x"}"#) == ParseError(code: .objectNotFound, message: "x"))
        #expect(try read(#"{"code":4711,"error":"x"}"#) == ParseError(otherCode: 4711, message: "x"))
        #expect(try read(#"{"message":"x"}"#) == ParseError(code: .otherCause, message: "x"))
        #expect(throws: DecodingError.self) { try read("{}") }
        let error: any Error = ParseError(otherCode: 4711, message: "x")
        #expect(error.localizedDescription == "ParseError code=9000 error=x otherCode=4711")
        #expect(
            ParseError(code: .objectNotFound, message: "y").localizedDescription
                == "ParseError code=101 error=y"
        )
        let text = String(
            decoding: try JSONEncoder().encode(ParseError(otherCode: 9, message: "x")),
            as: UTF8.self
        )
        #expect(try read(text).otherCode == 9)
    }

    @Test func `errors are compared by code`() {
        let error: any Error = ParseError(code: .objectNotFound, message: "x")
        let isEqual: Bool = error.equalsTo(.objectNotFound)
        let found: ParseError? = error.containedIn(.usernameTaken, .objectNotFound)
        let isOther: Bool = error.containedIn([.usernameTaken])
        #expect(isEqual && found?.message == "x" && !isOther)
        let isForeign: Bool = URLError(.badURL).equalsTo(.objectNotFound)
        #expect(!isForeign)
        #expect(ParseError.Code.otherCause == .unknownError)
    }

    @Test func `an ACL writes what is allowed and nothing else`() throws {
        var acl = ParseACL()
        acl.publicRead = true
        acl.setWriteAccess(objectId: "u1", value: true)
        acl.setReadAccess(user: User(objectId: "u2"), value: true)
        acl.setReadAccess(user: User(), value: true)
        acl.setWriteAccess(roleName: "admins", value: true)
        acl.setReadAccess(role: try Role(name: "staff"), value: true)
        let text =
            #"{"*":{"read":true},"role:admins":{"write":true},"role:staff":{"read":true},"#
            + #""u1":{"write":true},"u2":{"read":true}}"#
        #expect(try TreeEncoder(children: .whole).encode(acl).text == text)
        #expect(try JSONDecoder().decode(ParseACL.self, from: Data(text.utf8)) == acl)
        #expect(
            acl.getReadAccess(user: User(objectId: "u2")) && !acl.getWriteAccess(user: User(objectId: "u2"))
        )
        #expect(acl.getWriteAccess(roleName: "admins"))
        #expect(acl.getReadAccess(role: try Role(name: "staff")))
        acl.publicRead = false
        #expect(!acl.publicRead)
        #expect(try TreeEncoder(children: .whole).encode(ParseACL()).text == "{}")
        let odd = #"{"u1":{"read":false,"write":true,"admin":true}}"#
        #expect(try JSONDecoder().decode(ParseACL.self, from: Data(odd.utf8)).getWriteAccess(objectId: "u1"))
    }

    @Test(arguments: [("Staff-1_a b", true), ("", false), ("a.b", false), ("ä", false)])
    func `role names have plain characters only`(name: String, isGood: Bool) {
        #expect(((try? Role(name: name)) != nil) == isGood)
    }

    @Test func `versions are compared by their numbers`() throws {
        #expect(try ParseVersion(string: "1.9") < ParseVersion(string: "1.10.0"))
        #expect(try ParseVersion(string: "1.0.0") == ParseVersion(string: "1"))
        for bad in ["", "1.", "a", "1.2.3.4", "1.-2"] {
            #expect(throws: ParseError.self) { try ParseVersion(string: bad) }
        }
        #expect(try ParseVersion(string: #require(ParseVersion.current)).description == ParseVersion.current)
    }

    @Test func `class names come from the type or are fixed`() {
        #expect(Note.className == "Note")
        #expect(User.className == "_User")
        #expect(Installation.className == "_Installation")
        #expect(Role.className == "_Role")
        #expect(Session.className == "_Session")
        #expect(Note(objectId: "a").hasSameObjectId(as: Note(objectId: "a", title: "x")))
        #expect(!Note(objectId: "a").hasSameObjectId(as: OldItem(objectId: "a")))
        #expect(!Note().hasSameObjectId(as: Note()))
    }

    @Test(arguments: [("3", 3.0), ("0", 0.0), ("-1", nil), ("soon", nil)])
    func `Retry-After is read`(text: String, seconds: Double?) {
        #expect(RetryPolicy.seconds(text) == seconds)
    }

    @Test func `Retry-After may be a date`() throws {
        #expect(RetryPolicy.seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0)
        #expect(try #require(RetryPolicy.seconds("Fri, 01 Jan 2100 00:00:00 GMT")) > 1_000_000)
    }
}

struct Role: ParseRole {
    typealias RoleUser = User
    var objectId: String?
    var createdAt: Date?
    var updatedAt: Date?
    var ACL: ParseACL?
    var name: String?
}

struct Session: ParseSession {
    var objectId: String?
    var createdAt: Date?
    var updatedAt: Date?
    var ACL: ParseACL?
    var sessionToken = ""
    var user = User()
    var restricted: Bool?
    var createdWith: [String: String] = [:]
    var installationId = ""
    var expiresAt = Date()
}
