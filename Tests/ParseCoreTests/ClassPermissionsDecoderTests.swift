import JSON
import ParseCore
import ParseWire
import Testing

@Suite struct ClassPermissionsDecoderTests {
    private static let schema = ClassSchema(
        className: "Game",
        fields: SystemClasses.commonFields + [
            ("owner", .pointer("_User")), ("other", .pointer("Game")), ("list", .array), ("n", .number),
        ]
    )

    private func permissions(_ text: String, customIDs: Bool = false) throws -> ClassPermissions {
        let json = try #require(try JSONValue.parse(text).objectValue)
        return try ClassPermissionsDecoder(schema: Self.schema, allowsCustomIDs: customIDs).permissions(json)
    }

    @Test(arguments: [
        (#"{"fetch":{"*":true}}"#, "fetch is not a valid operation for class level permissions"),
        (#"{"find":{"a b":true}}"#, "'a b' is not a valid key for class level permissions"),
        (#"{"find":{"":true}}"#, "'' is not a valid key for class level permissions"),
        (
            #"{"find":{"userField:owner":true}}"#,
            "'userField:owner' is not a valid key for class level permissions"
        ),
        (#"{"find":"x"}"#, "'x' is not a valid value for class level permissions find - must be an object"),
        (
            #"{"find":null}"#,
            "'null' is not a valid value for class level permissions find - must be an object"
        ),
        (#"{"find":[]}"#, "'' is not a valid value for class level permissions find - must be an object"),
        (
            #"{"readUserFields":{}}"#,
            "'[object Object]' is not a valid value for class level permissions readUserFields - must be an array"
        ),
        (
            #"{"writeUserFields":true}"#,
            "'true' is not a valid value for class level permissions writeUserFields - must be an array"
        ),
        (#"{"get":{"*":false}}"#, "'false' is not a valid value for class level permissions acl get:*"),
        (#"{"get":{"role:A":1}}"#, "'1' is not a valid value for class level permissions acl get:role:A"),
        (
            #"{"get":{"requiresAuthentication":"yes"}}"#,
            "'yes' is not a valid value for class level permissions acl get:requiresAuthentication"
        ),
        (#"{"ACL":1}"#, "'1' is not a valid value for class level permissions ACL - must be an object"),
        (#"{"ACL":{"*":true}}"#, "'true' is not a valid value for class level permissions acl"),
        (
            #"{"ACL":{"*":{"read":true,"x":1,"y":2}}}"#,
            "'x,y' is not a valid key for class level permissions acl"
        ),
        (
            #"{"ACL":{"*":{"read":1,"write":"a"}}}"#,
            "'1,a' is not a valid value for class level permissions acl"
        ),
        (#"{"ACL":{"a b":{"read":true}}}"#, "'a b' is not a valid key for class level permissions"),
        (
            #"{"get":{"pointerFields":"owner"}}"#,
            "'owner' is not a valid value for get[pointerFields] - expected an array."
        ),
        (
            #"{"get":{"pointerFields":["other"]}}"#,
            "'other' is not a valid column for class level pointer permissions get"
        ),
        (
            #"{"get":{"pointerFields":["nope"]}}"#,
            "'nope' is not a valid column for class level pointer permissions get"
        ),
        (
            #"{"readUserFields":["n"]}"#,
            "'n' is not a valid column for class level pointer permissions readUserFields"
        ),
        (
            #"{"writeUserFields":[5]}"#,
            "'5' is not a valid column for class level pointer permissions writeUserFields"
        ),
        (
            #"{"protectedFields":{"*":"n"}}"#,
            "'n' is not a valid value for protectedFields[*] - expected an array."
        ),
        (#"{"protectedFields":{"*":["createdAt"]}}"#, "Default field 'createdAt' can not be protected"),
        (#"{"protectedFields":{"role:A":["x"]}}"#, "Field 'x' in protectedFields:role:A does not exist"),
        (#"{"protectedFields":{"*":[1]}}"#, "Field '1' in protectedFields:* does not exist"),
        (#"{"protectedFields":{"a-b":[]}}"#, "'a-b' is not a valid key for class level permissions"),
    ])
    func `what cannot mean anything is refused`(_ text: String, _ message: String) {
        expectRefusalNow(.invalidJSON, message) { _ = try permissions(text) }
    }

    @Test func `what is not named is nobody's`() throws {
        let json = try permissions(#"{"find":{"*":true},"ACL":{"currentUser":{"read":true}}}"#).json
        #expect(
            json == [
                "find": ["*": true], "count": [:], "get": [:], "create": [:], "update": [:], "delete": [:],
                "addField": [:], "protectedFields": [:], "ACL": ["currentUser": ["read": true]],
            ]
        )
    }

    @Test func `every kind of key has its place`() throws {
        let read = try permissions(
            #"""
            {"find":{"*":true,"role:Böse Leute":true,"aB3":true,"requiresAuthentication":true,
            "pointerFields":["owner","list"]},"readUserFields":["owner"],"writeUserFields":["list"],
            "protectedFields":{"*":["n"],"authenticated":[],"role:A":["n"],"aB3":[],"userField:owner":[]}}
            """#
        )
        let rule = try #require(read.rules[.find])
        #expect(rule.keys == ["*", "role:Böse Leute", "aB3"] && rule.requiresAuthentication)
        #expect(rule.pointerFields == ["owner", "list"])
        #expect(read.readUserFields == ["owner"] && read.writeUserFields == ["list"])
        #expect(read.protectedFields["*"] == ["n"])
    }

    @Test func `any text is an id where clients choose ids`() throws {
        expectRefusalNow(.invalidJSON, "'a-b' is not a valid key for class level permissions") {
            _ = try permissions(#"{"get":{"a-b":true}}"#)
        }
        #expect(try permissions(#"{"get":{"a-b":true}}"#, customIDs: true).rules[.get]?.keys == ["a-b"])
    }

    @Test func `permissions have an end`() throws {
        let entries = JSONObject((0..<60_000).map { JSONObject.Member(key: "user\($0)00000", value: true) })
        let decoder = ClassPermissionsDecoder(schema: Self.schema, allowsCustomIDs: false)
        expectRefusalNow(.objectTooLarge, "The object is larger than 1048576 bytes.") {
            _ = try decoder.permissions(["find": .object(entries)])
        }
    }
}
