/// The words of each language that are too common to search for, in lower case.
enum StopWords {
    static func contains(_ word: String, of language: TextLanguage) -> Bool {
        sets[language]?.contains(word) ?? false
    }

    private static let sets = Dictionary(
        uniqueKeysWithValues: lists.map { language, words in
            (language, Set(words.split(whereSeparator: \.isWhitespace).map(String.init)))
        }
    )

    private static let lists: [TextLanguage: String] = [
        .english: """
        a an the and or but nor not no so if then than as at by for from in into of off on onto out over to under
        up with without about after before between during through against above below again once here there when
        where why how what which who whom whose this that these those i me my mine we us our ours you your yours he
        him his she her hers it its they them their theirs myself yourself himself herself itself ourselves
        themselves am is are was were be been being have has had having do does did doing can could will would
        shall should may might must all any both each few more most other some such only own same too very just
        don't doesn't didn't isn't aren't wasn't weren't won't can't i'm you're it's he's she's we're they're i've
        """,
        .danish: """
        og i jeg det at en et den til er som på de med han af for ikke der var mig sig men har om vi min havde ham
        hun nu over da fra du ud sin dem os op man hans hvor eller hvad skal selv her alle vil blev kunne ind når
        være dog noget ville jo deres efter ned skulle denne dette mit også under have dig anden hende mine alt
        meget sit sine vor mod disse hvis din nogle hos blive mange ad bliver hendes været jer sådan
        """,
        .dutch: """
        de het een en van ik te dat die in is niet zijn op aan met als voor had er maar om hem dan zou of wat mijn
        men dit zo door over ze zich bij ook tot je mij uit der daar haar naar heb hoe heeft hebben deze u want nog
        zal me zij nu ge geen omdat iets worden toch al waren veel meer doen toen moet ben zonder kan hun dus alles
        onder ja eens hier wie werd altijd wordt wezen kunnen ons zelf tegen na reeds wil kon niets uw iemand was
        """,
        .finnish: """
        ja on ei se että hän joka mutta ovat oli tai myös kun niin kuin jos nyt vain sekä olla en et emme ette
        eivät minä sinä me te he tämä tuo nämä nuo ne mikä kuka mitä missä mistä mihin jotta koska siis vaikka
        olen olet olemme olette olin olit olimme olitte olivat ollut olleet minun sinun hänen meidän teidän heidän
        sen sitä siinä siitä siihen tässä tästä tähän noin näin
        """,
        .french: """
        le la les un une des du de d l et ou où mais donc or ni car que qui quoi dont ce cet cette ces c s se sa
        son ses mon ma mes ton ta tes notre nos votre vos leur leurs je j tu il elle on nous vous ils elles me m te
        t lui eux moi toi en y au aux à dans par pour sur sous avec sans entre vers chez ne n pas plus est es suis
        sommes êtes sont était étaient été être ai as a avons avez ont avait avaient eu avoir si comme même très qu
        """,
        .german: """
        der die das den dem des ein eine einen einem einer eines und oder aber denn weil dass daß ob wenn als wie
        so nicht kein keine keinen ich du er sie es wir ihr mich dich sich mir dir ihm ihn ihnen uns euch mein dein
        sein ihre unser euer meine deine seine ihren ihrem in im ins an am auf aus bei beim mit nach von vom vor zu
        zum zur über unter um durch für gegen ohne zwischen bis ist bin bist sind seid war waren wird werden wurde
        hat habe haben hatte hatten kann können soll sollen will wollen auch noch nur schon sehr hier da dort man
        """,
        .hungarian: """
        a az egy és vagy de hogy nem is ha mert ez azt ezt ezek azok én te ő mi ti ők már még csak meg el ki be
        fel le van vannak volt voltak lesz lenne lehet kell minden mint majd itt ott így úgy aki ami amely amelyek
        akkor most nagyon pedig után alatt között által szerint ezen azon ennek annak valamint illetve sem se
        """,
        .italian: """
        il lo la i gli le l un uno una di a da in con su per tra fra del dello della dei degli delle al allo alla
        ai agli alle dal dalla dai nel nella nei nelle sul sulla sui sulle e ed o ma se che chi cui non più come
        anche io tu lui lei noi voi loro mi ti ci vi si mio mia tuo tua suo sua nostro vostro questo questa quello
        quella è sono sei siamo siete era erano ho hai ha abbiamo avete hanno aveva avevano essere avere dove quando
        """,
        .norwegian: """
        og i jeg det at en et ei den til er som på de med han av for ikke der var meg seg men har om vi min hadde
        ham hun nå over da fra du ut sin dem oss opp man hans hvor eller hva skal selv her alle vil ble kunne inn
        når være kom noe ville jo deres etter ned skulle denne dette mitt også under ha deg henne mine alt meget
        sitt sine vår mot disse hvis din noen hos bli mange blir hennes vært dere slik dei eg ikkje
        """,
        .portuguese: """
        o a os as um uma uns umas de do da dos das em no na nos nas ao aos à às por pelo pela pelos pelas para com
        sem sob sobre entre até e ou mas que se não mais como quando onde quem qual eu tu ele ela nós vós eles elas
        me te lhe nos vos lhes meu minha teu tua seu sua nosso nossa este esta esse essa isto isso aquele aquela
        aquilo é são era eram foi foram ser está estão estava ter tem têm tinha há também já muito só
        """,
        .romanian: """
        și sau dar iar ori că să nu mai cel cea cei cele un o unei unui de la din în pe cu pentru fără prin peste
        între după până spre către eu tu el ea noi voi ei ele îmi îți își mă te se ne vă meu mea tău ta său sa
        nostru vostru lor acest această acești aceste acel aceea care cine ce cum când unde este sunt era erau fost
        fi am ai are avem aveți au a al ale lui doar foarte tot
        """,
        .russian: """
        и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее её мне было вот
        от меня еще ещё нет о из ему теперь когда даже ну ли если уже или ни быть был него до вас нибудь уж вам
        ведь там потом себя ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто
        чего раз тоже себе под будет кто этот того потому этого какой ним здесь этом мой тем чтобы нее были при об
        """,
        .spanish: """
        el la los las lo un una unos unas de del al a ante con contra desde en entre hacia hasta para por según
        sin sobre tras y e o u pero sino que si no más como cuando donde quien cual yo tú él ella nosotros vosotros
        ellos ellas me te se le les nos os mi tu su mis tus sus nuestro nuestra este esta esto estos estas ese esa
        eso aquel aquella es son era eran fue fueron ser está están estaba hay ha han he había también muy ya
        """,
        .swedish: """
        och det att i en ett jag hon som han på den med var sig för så till är men om hade de av icke mig du henne
        då sin nu har inte hans honom skulle hennes där min man ej vid kunde något från ut när efter upp vi dem
        vara vad över än dig kan sina här ha mot alla under någon eller allt mycket sedan ju denna själv detta åt
        utan varit hur ingen mitt ni bli blev oss din dessa några deras blir mina samma vilken er sådan vår vart
        """,
        .turkish: """
        ve veya ya da de ki bu şu o bir ben sen biz siz onlar beni seni onu bizi sizi bana sana ona bize size
        benim senin onun bizim sizin onların için ile gibi kadar daha çok en az her hiç ama fakat ancak çünkü eğer
        ise mi mı mu mü ne neden nasıl nerede kim hangi değil var yok olan olarak oldu olur sonra önce şey bazı
        """,
    ]
}
