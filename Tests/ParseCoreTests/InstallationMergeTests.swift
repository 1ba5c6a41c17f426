import JSON
import ParseWire
import Testing

@testable import ParseCore

@Suite struct InstallationMergeTests {
    typealias Decision = InstallationMerge.Decision

    private static func row(_ id: String, _ installationID: String?, _ token: String?) -> StoredRow {
        let now = Timestamp(milliseconds: 0)
        var fields: [String: FieldValue] = ["deviceType": .string("ios")]
        if let installationID { fields["installationId"] = .string(installationID) }
        if let token { fields["deviceToken"] = .string(token) }
        return StoredRow(objectID: id, createdAt: now, updatedAt: now, fields: fields)
    }

    private static func sent(
        _ bodyID: String?,
        _ token: String?,
        header: String? = nil,
        type: String? = "ios",
        app: String? = nil
    ) -> InstallationMerge.Sent {
        InstallationMerge.Sent(
            bodyID: bodyID,
            installationID: bodyID ?? header,
            deviceToken: token,
            deviceType: type,
            appIdentifier: app
        )
    }

    private static func tokens(_ token: String, but other: Predicate, app: String? = nil)
        -> InstallationMerge.CleanUp
    {
        var parts: [Predicate] = [.equal("deviceToken", .string(token)), other]
        if let app { parts.append(.equal("appIdentifier", .string(app))) }
        return InstallationMerge.CleanUp(rows: .all(parts), field: "deviceToken")
    }

    struct Case: Sendable {
        let name: String
        let sent: InstallationMerge.Sent
        let rows: [StoredRow]
        var objectID: String?
        let decision: Decision
    }

    private static let creates: [Case] = [
        Case(name: "nothing is there", sent: sent("i", "t"), rows: [], decision: .create(nil)),
        Case(
            name: "the id is there",
            sent: sent("i", nil, type: nil),
            rows: [row("A", "i", "t")],
            decision: .update(objectID: "A", nil, installationID: "i")
        ),
        Case(
            name: "the id is there with that token",
            sent: sent("i", "t"),
            rows: [row("A", "i", "t")],
            decision: .update(objectID: "A", nil, installationID: "i")
        ),
        Case(
            name: "the id is there with another token, and nobody has the new one",
            sent: sent("i", "u"),
            rows: [row("A", "i", "t")],
            decision: .update(objectID: "A", nil, installationID: "i")
        ),
        Case(
            name: "the id is there, and another device has the token",
            sent: sent("i", "u"),
            rows: [row("A", "i", "t"), row("B", "j", "u")],
            decision: .update(
                objectID: "A",
                tokens("u", but: .notEqual("objectId", .string("A"))),
                installationID: "i"
            )
        ),
        Case(
            name: "the id is there, and a row that has only the token",
            sent: sent("i", "u"),
            rows: [row("A", "i", "t"), row("B", nil, "u")],
            decision: .update(
                objectID: "B",
                InstallationMerge.CleanUp(rows: .id("A"), field: "installationId"),
                installationID: "i"
            )
        ),
        Case(
            name: "the token is there without an id",
            sent: sent("i", "t"),
            rows: [row("A", nil, "t")],
            decision: .update(objectID: "A", nil, installationID: "i")
        ),
        Case(
            name: "the token is there with an id, and none was sent",
            sent: sent(nil, "t"),
            rows: [row("A", "i", "t")],
            decision: .update(objectID: "A", nil, installationID: nil)
        ),
        Case(
            name: "the token is there with another id",
            sent: sent("i", "t"),
            rows: [row("A", "j", "t")],
            decision: .create(tokens("t", but: .notEqual("installationId", .string("i"))))
        ),
        Case(
            name: "the token is there with another id than the header's",
            sent: sent(nil, "t", header: "i"),
            rows: [row("A", "j", "t")],
            decision: .create(tokens("t", but: .notEqual("installationId", .string("i"))))
        ),
        Case(
            name: "several have the token",
            sent: sent("i", "t", app: "com.example"),
            rows: [row("A", "j", "t"), row("B", nil, "t")],
            decision: .create(
                tokens("t", but: .notEqual("installationId", .string("i")), app: "com.example")
            )
        ),
        Case(
            name: "the header's id is there",
            sent: sent(nil, nil, header: "i"),
            rows: [row("A", "i", nil)],
            decision: .update(objectID: "A", nil, installationID: "i")
        ),
    ]

    private static let updates: [Case] = [
        Case(
            name: "its own token again, without any id",
            sent: sent(nil, "t"),
            rows: [row("A", nil, "t")],
            objectID: "A",
            decision: .update(objectID: "A", nil, installationID: nil)
        ),
        Case(
            name: "whoever addresses a row means it, wherever the request comes from",
            sent: sent(nil, "u", header: "j"),
            rows: [row("A", "i", "t"), row("B", "j", "v")],
            objectID: "A",
            decision: .update(objectID: "A", nil, installationID: nil)
        ),
        Case(
            name: "a token that another has",
            sent: sent(nil, "u"),
            rows: [row("A", "i", "t"), row("B", "j", "u")],
            objectID: "A",
            decision: .update(
                objectID: "A",
                tokens("u", but: .notEqual("objectId", .string("A"))),
                installationID: nil
            )
        ),
        Case(
            name: "a token that a row without an id has",
            sent: sent(nil, "u"),
            rows: [row("A", "i", "t"), row("B", nil, "u")],
            objectID: "A",
            decision: .update(
                objectID: "B",
                InstallationMerge.CleanUp(rows: .id("A"), field: "installationId"),
                installationID: "i"
            )
        ),
        Case(
            name: "an id that another row has",
            sent: sent("i", nil),
            rows: [row("A", nil, "t"), row("B", "i", nil)],
            objectID: "A",
            decision: .update(objectID: "B", nil, installationID: nil)
        ),
    ]

    @Test(arguments: creates + updates)
    func `a save is of this installation`(_ test: Case) throws {
        let merge = InstallationMerge(test.sent, among: test.rows, objectID: test.objectID)
        #expect(try merge.decision() == test.decision, "\(test.name)")
    }

    @Test func `with the other priority the row with the id stays`() throws {
        let rows = [Self.row("A", "i", "t"), Self.row("B", nil, "u")]
        let merge = InstallationMerge(Self.sent("i", "u"), among: rows, priority: .installationId)
        let expected = Decision.update(
            objectID: "A",
            Self.tokens("u", but: .notEqual("objectId", .string("A"))),
            installationID: "i"
        )
        #expect(try merge.decision() == expected)
    }

    @Test func `a new installation says what kind of device it is`() {
        expectRefusalNow(.missingRequiredField, "deviceType must be specified in this operation") {
            _ = try InstallationMerge(Self.sent("i", "t", type: nil), among: []).decision()
        }
    }

    @Test func `a token of several needs an id to choose by`() {
        let rows = [Self.row("A", "i", "t"), Self.row("B", "j", "t")]
        for header in [nil, "k"] {
            expectRefusalNow(
                .missingInstallationID,
                "Must specify installationId when deviceToken matches multiple Installation objects"
            ) { _ = try InstallationMerge(Self.sent(nil, "t", header: header), among: rows).decision() }
        }
    }

    @Test(arguments: [
        (#"{"installationId":"j"}"#, "installationId"), (#"{"installationId":null}"#, "installationId"),
        (#"{"installationId":{"__op":"Delete"}}"#, "installationId"),
        (#"{"deviceType":"android"}"#, "deviceType"), (#"{"deviceType":null}"#, "deviceType"),
    ])
    func `what an installation is known by stays`(_ text: String, _ field: String) throws {
        let body = InstallationBody(try #require(try JSONValue.parse(text).objectValue), header: nil)
        #expect(!body.isPlain)
        expectRefusalNow(.unchangeableField, "\(field) may not be changed in this operation") {
            try body.checkChange(of: Self.row("A", "i", "t"))
        }
    }

    @Test func `a token changes where an id tells whose it is, and nowhere else`() throws {
        let body = InstallationBody(["deviceToken": "u"], header: nil)
        try body.checkChange(of: Self.row("A", "i", "t"))
        try InstallationBody(["deviceToken": "u", "installationId": "i"], header: nil)
            .checkChange(of: Self.row("A", nil, "t"))
        expectRefusalNow(.unchangeableField, "deviceToken may not be changed in this operation") {
            try body.checkChange(of: Self.row("A", nil, "t"))
        }
        try InstallationBody(["deviceToken": "T", "installationId": "I"], header: nil)
            .checkChange(of: Self.row("A", "i", "t"))
    }

    @Test func `ids are stored in small letters, and tokens of 64 characters`() {
        let token = String(repeating: "AB", count: 32)
        let long = InstallationBody(["installationId": "AbC", "deviceToken": .string(token)], header: "X")
        #expect(long.fields["installationId"] == "abc" && long.ids.installationID == "abc")
        #expect(long.fields["deviceToken"] == .string(token.lowercased()))
        #expect(InstallationBody(["deviceToken": "AbC"], header: nil).ids.deviceToken == "AbC")
        let empty = InstallationBody(["installationId": "", "deviceToken": ""], header: "AbC")
        #expect(empty.fields.isEmpty && empty.ids.installationID == "abc" && empty.ids.bodyID == nil)
        #expect(InstallationBody([:], header: "").ids.installationID == nil)
    }
}
