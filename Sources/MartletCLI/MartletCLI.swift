@main
enum MartletCLI {
    static func main() {
        print("martlet")
    }
}
