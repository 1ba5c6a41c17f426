import JSON
import ParseCore
import ParseWire
import Testing

/// Every operation, for every kind of caller, under every kind of permission: what comes of it.
///
/// The words of the tables: `ok`; `-` for nothing found; `101`, `119` for refusals with that code; `auth` for 101 with the
/// demand to log in.
@Suite struct PermissionMatrixTests {
    /// One caller per column.
    private enum Caller: Int, CaseIterable {
        case nobody, owner, other, member, master, reader
    }

    private enum Operation: String, CaseIterable {
        case find, count, get, create, update, addField, delete
    }

    struct Grid: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let permissions: JSONObject?
        let acl: JSONObject?
        /// A line per operation: its name, and what comes of it for nobody, the owner, another user, a member of the
        /// role, the master key and the read-only master key.
        let lines: String
    }

    private static let userID = "USER"
    private static let memberRole = "role:Keepers"

    private static func everywhere(_ rule: JSONObject) -> JSONObject {
        JSONObject(
            ClassPermissions.Operation.allCases.map {
                JSONObject.Member(key: $0.rawValue, value: .object(rule))
            }
        )
    }

    static let grids: [Grid] = [
        Grid(
            testDescription: "nothing set",
            permissions: nil,
            acl: nil,
            lines: """
                find      ok   ok   ok   ok   ok   ok
                count     ok   ok   ok   ok   ok   ok
                get       ok   ok   ok   ok   ok   ok
                create    ok   ok   ok   ok   ok   119
                update    ok   ok   ok   ok   ok   119
                addField  ok   ok   ok   ok   ok   119
                delete    ok   ok   ok   ok   ok   119
                """
        ),
        Grid(
            testDescription: "closed to all",
            permissions: everywhere([:]),
            acl: nil,
            lines: """
                find      119  119  119  119  ok   ok
                count     119  119  119  119  ok   ok
                get       119  119  119  119  ok   ok
                create    119  119  119  119  ok   119
                update    119  119  119  119  ok   119
                addField  119  119  119  119  ok   119
                delete    119  119  119  119  ok   119
                """
        ),
        Grid(
            testDescription: "open to all",
            permissions: everywhere(["*": true]),
            acl: nil,
            lines: """
                find      ok   ok   ok   ok   ok   ok
                count     ok   ok   ok   ok   ok   ok
                get       ok   ok   ok   ok   ok   ok
                create    ok   ok   ok   ok   ok   119
                update    ok   ok   ok   ok   ok   119
                addField  ok   ok   ok   ok   ok   119
                delete    ok   ok   ok   ok   ok   119
                """
        ),
        Grid(
            testDescription: "whoever is logged in",
            permissions: everywhere(["requiresAuthentication": true]),
            acl: nil,
            lines: """
                find      auth ok   ok   ok   ok   ok
                count     auth ok   ok   ok   ok   ok
                get       auth ok   ok   ok   ok   ok
                create    auth ok   ok   ok   ok   119
                update    auth ok   ok   ok   ok   119
                addField  auth ok   ok   ok   ok   119
                delete    auth ok   ok   ok   ok   119
                """
        ),
        Grid(
            testDescription: "a role",
            permissions: everywhere([memberRole: true]),
            acl: nil,
            lines: """
                find      119  119  119  ok   ok   ok
                count     119  119  119  ok   ok   ok
                get       119  119  119  ok   ok   ok
                create    119  119  119  ok   ok   119
                update    119  119  119  ok   ok   119
                addField  119  119  119  ok   ok   119
                delete    119  119  119  ok   ok   119
                """
        ),
        Grid(
            testDescription: "one user",
            permissions: everywhere([userID: true]),
            acl: nil,
            lines: """
                find      119  ok   119  119  ok   ok
                count     119  ok   119  119  ok   ok
                get       119  ok   119  119  ok   ok
                create    119  ok   119  119  ok   119
                update    119  ok   119  119  ok   119
                addField  119  ok   119  119  ok   119
                delete    119  ok   119  119  ok   119
                """
        ),
        Grid(
            testDescription: "the user that a pointer names",
            permissions: everywhere(["pointerFields": ["owner"]]),
            acl: nil,
            lines: """
                find      -    ok   -    -    ok   ok
                count     -    ok   -    -    ok   ok
                get       101  ok   101  101  ok   ok
                create    119  119  119  119  ok   119
                update    101  ok   101  101  ok   119
                addField  101  ok   101  101  ok   119
                delete    101  ok   101  101  ok   119
                """
        ),
        Grid(
            testDescription: "the users that an array names, for reading; a pointer, for writing",
            permissions: {
                var permissions = everywhere([:])
                permissions["readUserFields"] = ["friends"]
                permissions["writeUserFields"] = ["owner"]
                return permissions
            }(),
            acl: nil,
            lines: """
                find      -    -    ok   -    ok   ok
                count     -    -    ok   -    ok   ok
                get       101  101  ok   101  ok   ok
                create    119  119  119  119  ok   119
                update    101  ok   101  101  ok   119
                addField  101  ok   101  101  ok   119
                delete    101  ok   101  101  ok   119
                """
        ),
        Grid(
            testDescription: "logged in, and a pointer",
            permissions: everywhere(["requiresAuthentication": true, "pointerFields": ["owner"]]),
            acl: nil,
            lines: """
                find      auth ok   -    -    ok   ok
                count     auth ok   -    -    ok   ok
                get       auth ok   101  101  ok   ok
                create    auth ok   ok   ok   ok   119
                update    auth ok   101  101  ok   119
                addField  auth ok   101  101  ok   119
                delete    auth ok   101  101  ok   119
                """
        ),
        Grid(
            testDescription: "an empty list",
            permissions: nil,
            acl: [:],
            lines: """
                find      -    -    -    -    ok   ok
                count     -    -    -    -    ok   ok
                get       101  101  101  101  ok   ok
                create    ok   ok   ok   ok   ok   119
                update    101  101  101  101  ok   119
                addField  101  101  101  101  ok   119
                delete    101  101  101  101  ok   119
                """
        ),
        Grid(
            testDescription: "public to read, the owner's to write",
            permissions: nil,
            acl: ["*": ["read": true], userID: ["write": true]],
            lines: """
                find      ok   ok   ok   ok   ok   ok
                count     ok   ok   ok   ok   ok   ok
                get       ok   ok   ok   ok   ok   ok
                create    ok   ok   ok   ok   ok   119
                update    101  ok   101  101  ok   119
                addField  101  ok   101  101  ok   119
                delete    101  ok   101  101  ok   119
                """
        ),
        Grid(
            testDescription: "a role's to read, public to write",
            permissions: nil,
            acl: [memberRole: ["read": true], "*": ["write": true]],
            lines: """
                find      -    -    -    ok   ok   ok
                count     -    -    -    ok   ok   ok
                get       101  101  101  ok   ok   ok
                create    ok   ok   ok   ok   ok   119
                update    ok   ok   ok   ok   ok   119
                addField  ok   ok   ok   ok   ok   119
                delete    ok   ok   ok   ok   ok   119
                """
        ),
        Grid(
            testDescription: "class and list both narrow",
            permissions: everywhere(["requiresAuthentication": true]),
            acl: [memberRole: ["read": true, "write": true]],
            lines: """
                find      auth -    -    ok   ok   ok
                count     auth -    -    ok   ok   ok
                get       auth 101  101  ok   ok   ok
                create    auth ok   ok   ok   ok   119
                update    auth 101  101  ok   ok   119
                addField  auth 101  101  ok   ok   119
                delete    auth 101  101  ok   ok   119
                """
        ),
    ]

    @Test(arguments: grids)
    func `everybody gets what the table says`(_ grid: Grid) async throws {
        let world = try await World(grid, userID: Self.userID, role: "Keepers")
        for line in grid.lines.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            let operation = try #require(Operation(rawValue: words[0]))
            #expect(words.count == 1 + Caller.allCases.count)
            for (caller, expected) in zip(Caller.allCases, words.dropFirst()) {
                let context = try await world.context(caller.rawValue)
                let found = await Self.outcome { try await Self.run(operation, in: context, world) }
                #expect(found == expected, "\(operation.rawValue) by \(caller)")
            }
        }
    }

    private static func outcome(_ body: () async throws -> Bool) async -> String {
        do {
            return try await body() ? "ok" : "-"
        } catch let error as ParseError {
            if error.message == "Permission denied, user needs to be authenticated." { return "auth" }
            return error.code.map { "\($0.rawValue)" } ?? "?"
        } catch {
            return "\(error)"
        }
    }

    /// Returns whether something was found or done.
    private static func run(
        _ operation: Operation,
        in context: RequestContext,
        _ world: World
    ) async throws -> Bool {
        switch operation {
        case .find:
            let reply = try await world.find(["where": ["mark": 1]], in: context)
            return reply["results"]?.arrayValue?.isEmpty == false
        case .count:
            // The permission to find is not asked for when nothing is looked for.
            let reply = try await world.find(["where": ["mark": 1], "limit": 0, "count": 1], in: context)
            return reply["count"] != 0
        case .get:
            let id = try await world.newObject()
            let command = GetObject(className: World.className, objectID: id, selection: Selection())
            return try await command.run(in: context)["objectId"] == .string(id)
        case .create:
            let command = CreateObject(className: World.className, body: ["mark": 2])
            return try await command.run(in: context).isNew
        case .update:
            let id = try await world.newObject()
            let command = UpdateObject(className: World.className, objectID: id, body: ["mark": 3])
            return try await command.run(in: context).body["updatedAt"] != nil
        case .addField:
            let id = try await world.newObject()
            let body: JSONObject = [world.freshField(): 1]
            let command = UpdateObject(className: World.className, objectID: id, body: body)
            return try await command.run(in: context).body["updatedAt"] != nil
        case .delete:
            let id = try await world.newObject()
            _ = try await DeleteObject(className: World.className, objectID: id).run(in: context)
            return true
        }
    }
}

/// One app with three users, a role, and a class under the permissions of a grid.
private final class World: Sendable {
    static let className = "Thing"

    private let test: TestApp
    private let tokens: [String]
    private let body: JSONObject
    private let freshFields: TestCounter = TestCounter()

    /// - Parameters:
    ///   - grid: Whose permissions hold.
    ///   - userID: The word in the grid that stands for the owner's id.
    ///   - role: The role that the third user has.
    /// - Throws: What making all of it throws.
    init(_ grid: PermissionMatrixTests.Grid, userID: String, role: String) async throws {
        test = try TestApp()
        let owner = try await test.signUp("owner")
        let other = try await test.signUp("other")
        let member = try await test.signUp("member")
        let users: JSONValue = [
            "__op": "AddRelation", "objects": [FieldValue.pointerJSON("_User", member.id)],
        ]
        let master = test.context(.master)
        let roleBody: JSONObject = ["name": .string(role), "ACL": [:], "users": users]
        _ = try await CreateObject(className: "_Role", body: roleBody).run(in: master)
        tokens = [owner.token, other.token, member.token]

        var body: JSONObject = [
            "mark": 1, "owner": FieldValue.pointerJSON("_User", owner.id),
            "friends": [FieldValue.pointerJSON("_User", other.id)],
        ]
        if let acl = grid.acl { body["ACL"] = .object(Self.renamed(acl, userID, owner.id)) }
        self.body = body
        var changes: [SchemaChange] = [
            .addField(className: Self.className, field: "mark", type: .number),
            .addField(className: Self.className, field: "owner", type: .pointer("_User")),
            .addField(className: Self.className, field: "friends", type: .array),
        ]
        if let permissions = grid.permissions {
            let own = JSONObject(
                permissions.map { member in
                    guard let rule = member.value.objectValue else { return member }
                    let renamed = Self.renamed(rule, userID, owner.id)
                    return JSONObject.Member(key: member.key, value: .object(renamed))
                }
            )
            changes.append(.setPermissions(className: Self.className, ClassPermissions(own)))
        }
        _ = try await test.storage.write(WritePlan(schemaChanges: changes, steps: []))
        _ = try await newObject()
    }

    func context(_ caller: Int) async throws -> RequestContext {
        switch caller {
        case 0: test.context()
        case 4: test.context(.master)
        case 5: test.context(.readOnlyMaster)
        default: try await test.context(token: tokens[caller - 1])
        }
    }

    func newObject() async throws -> String {
        let command = CreateObject(className: Self.className, body: body)
        let reply = try await command.run(in: test.context(.master))
        return try #require(reply.body["objectId"]?.stringValue)
    }

    func find(_ parameters: JSONObject, in context: RequestContext) async throws -> JSONObject {
        let options = try FindOptions(parameters, by: context.principal)
        return try await FindObjects(className: Self.className, options: options).run(in: context)
    }

    func freshField() -> String {
        "fresh\(freshFields.next())"
    }

    private static func renamed(_ object: JSONObject, _ name: String, _ newName: String) -> JSONObject {
        JSONObject(object.map { .init(key: $0.key == name ? newName : $0.key, value: $0.value) })
    }
}
