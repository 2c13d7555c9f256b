package io.verbena.cli;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.properties.HasName;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The map in {@code docs/architecture.md} as rules over the compiled classes of all modules and over their POMs.
 */
class ArchitectureTest
{
    /** What may ask the operating system for the time, each with its reason. */
    private static final Set<String> CLOCKS = Set.of(
        // The default clock of a check; every other way to give one is a parameter.
        "io.verbena.elle.linear.LinearOptions",
        // Bounds and figures of the command, which lives in real time.
        "io.verbena.elle.command.HistoryCheck",
        "io.verbena.elle.bench.CheckBenchmark",
        // Waits for other processes and threads of this machine, which do not know virtual time.
        "io.verbena.rdma.soft");

    /** What may draw random numbers that no seed decides, each with its reason. */
    private static final Set<String> RANDOM = Set.of(
        // What devices hand out where no seed decides.
        "io.verbena.rdma.verbs.Device$SystemRandom",
        // A folder has its id before there is a device.
        "io.verbena.memory.MemoryFolder",
        // Likewise the name of a meta server that joins a group.
        "io.verbena.meta.raft.MemberName",
        // Secrets, over TCP: no simulation has that.
        "io.verbena.protocol.bootstrap",
        "io.verbena.protocol.access",
        "io.verbena.certificates",
        // Files and connections of this machine.
        "io.verbena.rdma.soft.shared",
        "io.verbena.rdma.ibverbs",
        "io.verbena.cli.cluster",
        // Identifiers for a collector elsewhere, over TCP.
        "io.verbena.server.OtlpExport",
        // Threads of tests, which have no seed anyway.
        "io.verbena.test");

    /** What is there to find faults: it plants some to show that it does. */
    private static final DescribedPredicate<JavaClass> JUDGES =
        resideInAnyPackage("io.verbena.test..", "io.verbena.rdma.conformance..", "io.verbena.rdma.sim..");

    /** Setters that are not public, none of which takes away a check; each with its reason. */
    private static final Set<String> SET_BY_TESTS = Set.of(
        // Simulations have one thread, which makes checkpoints itself.
        "MemoryNodeConfiguration.noCheckpointThread");

    /** A module, the package it owns, and the modules its POM names. */
    enum Module
    {
        TEST_SUPPORT("test-support", "test"),
        RDMA_CORE("rdma-core", "rdma"),
        RDMA_SIM("rdma-sim", "rdma.sim", RDMA_CORE),
        RDMA_ROCE("rdma-roce", "rdma.roce", RDMA_CORE),
        RDMA_CONFORMANCE("rdma-conformance", "rdma.conformance", RDMA_CORE, RDMA_SIM, RDMA_ROCE),
        RAAS("raas", "raas", RDMA_CORE),
        ELLE("elle", "elle"),
        CERTIFICATES("certificates", "certificates"),
        PROTOCOL("protocol", "protocol", RAAS, RDMA_ROCE),
        KV_TABLE("kv-table", "table", RAAS),
        ROCKSDB_LIBRARY("rocksdb-library", "rocksdb"),
        META_SERVER("meta-server", "meta", PROTOCOL, ROCKSDB_LIBRARY),
        META_RAFT("meta-raft", "meta.raft", CERTIFICATES, META_SERVER),
        KV_MEMORY_NODE("kv-memory-node", "memory", PROTOCOL, KV_TABLE, ROCKSDB_LIBRARY),
        KV_COMPUTE_NODE("kv-compute-node", "compute", PROTOCOL, KV_TABLE),
        CLIENT("client", "client", PROTOCOL),
        RESP("resp", "resp", PROTOCOL),
        KV_SERVER("kv-server", "server", META_SERVER, META_RAFT, KV_MEMORY_NODE, KV_COMPUTE_NODE, RESP),
        EMBEDDED("embedded", "embedded", CLIENT, KV_TABLE, KV_COMPUTE_NODE, META_SERVER, KV_MEMORY_NODE, KV_SERVER),
        LOAD_TESTS("load-tests", "load", EMBEDDED, ELLE, RDMA_SIM, RDMA_ROCE),
        CLI("cli", "cli", CERTIFICATES, KV_SERVER, RESP, LOAD_TESTS, RDMA_CONFORMANCE);

        private final String folder;
        private final String packages;
        private final List<Module> edges;

        Module(final String folder, final String name, final Module... edges)
        {
            this.folder = folder;
            this.packages = "io.verbena." + name + "..";
            this.edges = List.of(edges);
        }

        /** The classes of its package, without those of a module whose package lies inside it. */
        private DescribedPredicate<JavaClass> classes()
        {
            DescribedPredicate<JavaClass> own = resideInAPackage(packages);
            for (final Module other : values())
            {
                if (other != this && other.packages.startsWith(packages.substring(0, packages.length() - 1)))
                {
                    own = own.and(DescribedPredicate.not(resideInAPackage(other.packages)));
                }
            }
            return own;
        }

        private Set<Module> reachable()
        {
            final Set<Module> reachable = new TreeSet<>(edges);
            edges.forEach(edge -> reachable.addAll(edge.reachable()));
            return reachable;
        }
    }

    private static JavaClasses production;

    @BeforeAll
    static void readClasses()
    {
        production = new ClassFileImporter().importPaths(productionFolders());
    }

    /** Where the build puts the classes of each module. */
    static List<Path> productionFolders()
    {
        return Arrays.stream(Module.values())
            .map(module -> SourceTree.root().resolve(module.folder).resolve("target/classes")).toList();
    }

    /** What is built behind this module has a test of its own: KubernetesArchitectureTest. */
    @Test
    void shouldKnowEveryModuleOfTheBuild()
    {
        final String pom = SourceTree.text(SourceTree.root().resolve("pom.xml"));
        final List<String> known = new ArrayList<>(List.of("kubernetes"));
        Arrays.stream(Module.values()).forEach(module -> known.add(module.folder));
        assertThat(Pattern.compile("<module>([^<]+)</module>").matcher(pom).results().map(found -> found.group(1)))
            .containsExactlyInAnyOrderElementsOf(known);
        check(noClasses().should().dependOnClassesThat().resideInAPackage("io.fabric8.."));
    }

    @Test
    void shouldSeeTheClassesOfEveryModule()
    {
        for (final Module module : Module.values())
        {
            assertThat(production.that(module.classes())).as(module.folder).isNotEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldImportOnlyModulesBelow(final Module module)
    {
        DescribedPredicate<JavaClass> others = DescribedPredicate.alwaysFalse();
        for (final Module other : Module.values())
        {
            if (other != module && !module.reachable().contains(other))
            {
                others = others.or(other.classes());
            }
        }
        check(noClasses().that(module.classes()).should().dependOnClassesThat(others));
    }

    @ParameterizedTest
    @EnumSource
    void shouldNameItsEdgesInItsPom(final Module module)
    {
        final String pom = SourceTree.text(SourceTree.root().resolve(module.folder).resolve("pom.xml"));
        final Set<String> named = new TreeSet<>();
        final Matcher dependency = Pattern.compile(
            "<dependency>\\s*<groupId>io\\.verbena</groupId>\\s*<artifactId>([^<]+)</artifactId>(.*?)</dependency>",
            Pattern.DOTALL).matcher(pom);
        while (dependency.find())
        {
            if (!dependency.group(2).contains("<scope>test</scope>"))
            {
                named.add(dependency.group(1));
            }
        }
        assertThat(named).containsExactlyInAnyOrderElementsOf(
            module.edges.stream().map(edge -> "verbena-" + edge.folder).toList());
    }

    @Test
    void shouldBelongToAModule()
    {
        final String[] packages = Arrays.stream(Module.values()).map(module -> module.packages).toArray(String[]::new);
        check(classes().should().resideInAnyPackage(packages));
    }

    @Test
    void shouldHaveNoCyclesBetweenThePackagesOfTheTable()
    {
        check(slices().matching("io.verbena.table.(*)..").should().beFreeOfCycles());
        // The engine stands above its parts; only checks stand above the engine.
        check(noClasses().that().resideInAPackage("io.verbena.table.*")
            .and().resideOutsideOfPackage("io.verbena.table.check")
            .should().dependOnClassesThat().resideInAPackage("io.verbena.table"));
        // Operations and scans see that a slot is moving, never what drives a split or merge.
        check(noClasses().that().resideInAnyPackage("io.verbena.table.operation", "io.verbena.table.scan")
            .should().dependOnClassesThat().resideInAPackage("io.verbena.table.growth"));
    }

    /** What has to hold for a word that is swapped is said, and will change, there. */
    @Test
    void shouldSwapTheWordsOfATableInOnePlace()
    {
        check(noClasses().that().resideInAnyPackage("io.verbena.table..", "io.verbena.compute..", "io.verbena.memory..")
            .and().doNotHaveSimpleName("SlotRound")
            .should().callMethodWhere(JavaCall.Predicates.target(HasName.Predicates.name("compareSwap"))));
    }

    @Test
    void shouldHaveNoCyclesBetweenThePackagesOfTheProtocol()
    {
        check(slices().matching("io.verbena.protocol.(*)..").should().beFreeOfCycles());
    }

    @Test
    void shouldHaveNoCyclesBetweenThePackagesOfTheComputeNode()
    {
        check(slices().matching("io.verbena.compute.(*)..").should().beFreeOfCycles());
        // The node and its session stand above the parts of a session.
        check(noClasses().that().resideInAPackage("io.verbena.compute.*..")
            .should().dependOnClassesThat().resideInAPackage("io.verbena.compute"));
        // Other modules see the node and its figures.
        check(noClasses().that(DescribedPredicate.not(Module.KV_COMPUTE_NODE.classes()))
            .should().dependOnClassesThat(resideInAPackage("io.verbena.compute.*..")
                .and(DescribedPredicate.not(resideInAPackage("io.verbena.compute.figures")))));
    }

    @Test
    void shouldKeepEachLibraryWhereItBelongs()
    {
        onlyIn("org.apache.ratis..", Module.META_RAFT);
        onlyIn("org.rocksdb..", Module.ROCKSDB_LIBRARY, Module.META_SERVER, Module.KV_MEMORY_NODE);
        onlyIn("site.ycsb..", Module.LOAD_TESTS);
        onlyIn("org.bouncycastle..", Module.CERTIFICATES);
        onlyIn("net.openhft.chronicle..", Module.LOAD_TESTS);
        onlyIn("org.HdrHistogram..", Module.LOAD_TESTS, Module.RDMA_CONFORMANCE);
        onlyIn("io.micrometer..", Module.KV_SERVER);
        onlyIn("io.prometheus..", Module.KV_SERVER);
        onlyIn("picocli..", Module.CLI);
        onlyIn("io.netty..", Module.RESP);
        onlyIn("de.siegmar.fastcsv..", Module.CLI);
        onlyIn("org.jline..", Module.CLI);
        onlyIn("com.fasterxml.jackson.core..", Module.CLI, Module.LOAD_TESTS, Module.KV_SERVER);
    }

    /** As docs/client.md promises to programs with a client. */
    @Test
    void shouldNeedTwoLibrariesForAClient()
    {
        DescribedPredicate<JavaClass> known = resideInAnyPackage("java..", "javax..", "jdk..", "com.sun..",
            "org.agrona..", "net.openhft.hashing..").or(Module.CLIENT.classes());
        DescribedPredicate<JavaClass> carried = Module.CLIENT.classes();
        for (final Module module : Module.CLIENT.reachable())
        {
            known = known.or(module.classes());
            carried = carried.or(module.classes());
        }
        check(classes().that(carried).should().onlyDependOnClassesThat(
            known.or(DescribedPredicate.describe("is primitive", (type) -> type.getPackageName().isEmpty()))));
        for (final String page : List.of("docs/client.md", "docs/decisions/0006-thin-client.md"))
        {
            assertThat(SourceTree.text(SourceTree.root().resolve(page)).replace('\n', ' '))
                .contains("no libraries but Agrona and zero-allocation-hashing");
        }
    }

    /** An application imports one package, which needs no other; more are known only where a cluster is made. */
    @Test
    void shouldShowApplicationsOnePackageOfTheClient()
    {
        check(classes().that().resideInAPackage("io.verbena.client")
            .should().onlyDependOnClassesThat().resideInAnyPackage("java..", "io.verbena.client"));
        check(noClasses().that(DescribedPredicate.not(Module.CLIENT.classes()))
            .and().resideOutsideOfPackage(Module.EMBEDDED.packages)
            .should().dependOnClassesThat().resideInAPackage("io.verbena.client.*.."));
    }

    @Test
    void shouldKeepTheCheckerFreeOfEverythingElse()
    {
        check(classes().that().resideInAPackage(Module.ELLE.packages)
            .should().onlyDependOnClassesThat().resideInAnyPackage("java..", "javax..", Module.ELLE.packages));
    }

    @Test
    void shouldCallNativeCodeOnlyFromFewPackages()
    {
        // What tests share asks the kernel which system calls production code makes; emulated hosts exchange frames.
        check(noClasses().that(DescribedPredicate.not(Module.RDMA_CORE.classes()))
            .and().resideOutsideOfPackages(
                Module.TEST_SUPPORT.packages, "io.verbena.cli.hosts.wire", "io.verbena.rdma.roce.udp")
            .should().dependOnClassesThat().belongToAnyOf(Linker.class, SymbolLookup.class));
    }

    @Test
    void shouldKeepTestLibrariesOutOfProduction()
    {
        check(noClasses().that().resideOutsideOfPackages(Module.RDMA_CONFORMANCE.packages, Module.TEST_SUPPORT.packages)
            .should().dependOnClassesThat(
                resideInAnyPackage("org.junit..", "org.assertj..", "com.tngtech..", "org.opentest4j..")));
    }

    @Test
    void shouldKnowTheSoftAndSimProvidersOnlyWhereAClusterIsPutTogether()
    {
        // A prediction chooses the simulated fabric and its RNIC as another program chooses its hardware. Registered
        // memory lies in the same kind of files whether peers map it or send packets.
        check(noClasses()
            .that().resideOutsideOfPackages(
                Module.RDMA_CORE.packages, Module.EMBEDDED.packages, "io.verbena.load.verbs..",
                "io.verbena.rdma.roce.device..", "io.verbena.rdma.roce.host..")
            .and().haveNameNotMatching("io\\.verbena\\.load\\.bench\\.ContentionBenchmark.*")
            .should().dependOnClassesThat().resideInAnyPackage("io.verbena.rdma.soft..", "io.verbena.rdma.sim.."));
    }

    /** The simulator is for tests, the rules and predictions: no program that serves has it on its class path. */
    @Test
    void shouldKeepTheSimulatorOffTheClassPathOfNodesAndClients()
    {
        for (final Module module : List.of(Module.CLIENT, Module.KV_SERVER, Module.EMBEDDED))
        {
            assertThat(module.reachable()).as(module.folder).doesNotContain(Module.RDMA_SIM);
        }
    }

    @Test
    void shouldAskTheOperatingSystemForTheTimeOnlyInClocks()
    {
        final DescribedPredicate<JavaClass> isNoClock = DescribedPredicate.describe("are no clocks",
            type -> !CLOCKS.contains(type.getName()) && !CLOCKS.contains(type.getPackageName()));
        check(noClasses().that(isNoClock).should().callMethod(System.class, "nanoTime")
            .orShould().callMethod(System.class, "currentTimeMillis"));
    }

    @Test
    void shouldTakeRandomNumbersFromDevicesSoThatSimulatedRunsCanBeRepeated()
    {
        final DescribedPredicate<JavaClass> isSeeded = DescribedPredicate.describe("have devices or seeds",
            type -> !RANDOM.contains(type.getName()) && !RANDOM.contains(type.getPackageName()));
        check(noClasses().that(isSeeded).should().callMethod(ThreadLocalRandom.class, "current")
            .orShould().callConstructor(SecureRandom.class)
            .orShould().callConstructor(Random.class)
            .orShould().callConstructor(SplittableRandom.class)
            .orShould().callMethod(Math.class, "random")
            .orShould().callMethod(UUID.class, "randomUUID"));
    }

    @Test
    void shouldHaveNamesThatSaySomething()
    {
        check(noClasses().should().haveSimpleNameEndingWith("Manager")
            .orShould().haveSimpleNameEndingWith("Helper")
            .orShould().haveSimpleNameEndingWith("Util")
            .orShould().haveSimpleNameEndingWith("Utils")
            .orShould().haveSimpleNameEndingWith("Impl")
            .orShould().haveSimpleNameStartingWith("Simple")
            .orShould().haveSimpleNameStartingWith("Mock"));
    }

    /** A test that wants a protocol without one of its checks mutates the classes in its own process. */
    @Test
    void shouldHaveNoSwitchThatLeavesOutACheck()
    {
        final Pattern words = Pattern.compile("Guards?(?![a-z])|^guards?(?![a-z])|[dD]roppedChecks?|^leaveOut|" +
            "[mM]utat|(drop|skip|disable|ignore|bypass)(Check|Step|Rule|Invariant)s?");
        final List<String> found = new ArrayList<>();
        for (final JavaClass type : production.that(DescribedPredicate.not(JUDGES)))
        {
            Stream.concat(Stream.of(type.getSimpleName()), type.getMembers().stream().map(JavaMember::getName))
                .filter(name -> words.matcher(name).find()).forEach(name -> found.add(type.getName() + ": " + name));
        }
        assertThat(found).isEmpty();
    }

    /** What only tests of the same package can set is a switch of tests that ships. */
    @Test
    void shouldLetEverybodySetWhatTestsCanSet()
    {
        final Set<String> found = new TreeSet<>();
        for (final JavaClass type : production.that(DescribedPredicate.not(JUDGES)))
        {
            if (type.getSimpleName().endsWith("Configuration") || type.getSimpleName().endsWith("Options"))
            {
                type.getMethods().stream()
                    .filter(method -> method.getRawReturnType().equals(type))
                    .filter(method -> !method.getModifiers().contains(JavaModifier.STATIC))
                    .filter(method -> !method.getModifiers().contains(JavaModifier.PUBLIC) &&
                        !method.getModifiers().contains(JavaModifier.PRIVATE))
                    .forEach(method -> found.add(type.getSimpleName() + '.' + method.getName()));
            }
        }
        assertThat(found).isEqualTo(SET_BY_TESTS);
    }

    private static void onlyIn(final String library, final Module... modules)
    {
        final String[] packages = Arrays.stream(modules).map(module -> module.packages).toArray(String[]::new);
        check(noClasses().that().resideOutsideOfPackages(packages)
            .should().dependOnClassesThat().resideInAPackage(library));
    }

    private static void check(final ArchRule rule)
    {
        rule.check(production);
    }
}
