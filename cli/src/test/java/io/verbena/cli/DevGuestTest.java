package io.verbena.cli;

import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * {@code verbena dev guest} without QEMU: a pretended one stands in the guest's tree, and pretended package tools on
 * the PATH. {@link DevGuestSystemTest} boots the real one.
 */
class DevGuestTest
{
    private static final int LATE = 124;

    @TempDir
    private Path folder;

    private LauncherTree tree;

    @BeforeEach
    void makeTree() throws IOException
    {
        tree = new LauncherTree(folder.toRealPath()).environment("TMPDIR", folder.toRealPath().toString());
        for (final String file : List.of("guest", "prepare.sh", "initramfs-init", "guest-init"))
        {
            Files.createDirectories(tree.root().resolve("dev/guest"));
            Files.copy(SourceTree.root().resolve("dev/guest").resolve(file), tree.root().resolve("dev/guest/" + file));
        }
    }

    @Test
    void shouldTellHowItIsUsed()
    {
        final LauncherTree.Run run = tree.run("dev", "guest", "--help");

        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).startsWith("Usage: verbena dev guest").contains("--timeout");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "--", "--cpu=2 -- true", "ls -- true", "--cpus=0 -- true", "--memory=much -- true",
        "--timeout=-1 -- true", "--env=A=B -- true", "--cpus=17 -- true"})
    void shouldRefuseWhatItDoesNotKnowInOneLine(final String arguments)
    {
        final String[] words = ("dev guest " + arguments).strip().split(" +");

        final LauncherTree.Run run = tree.run(words);

        assertThat(run.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(run.err().lines()).singleElement().asString().contains("see verbena dev guest --help");
    }

    @Test
    void shouldSayThatItNeedsDebianWhereItsToolsAreMissing()
    {
        tree.tools("uname", "cksum");

        final LauncherTree.Run run = tree.run("dev", "guest", "--", "true");

        assertThat(run.status()).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(run.err().lines()).singleElement().asString().contains("Debian", "apt-get");
    }

    @Test
    void shouldSayThatPackagesAreOutOfReach()
    {
        tree.tools("uname", "cksum", "id", "tar", "gzip", "flock", "mkfifo", "timeout")
            .tool("dpkg-deb", "exit 0").tool("apt-cache", "exit 0").tool("apt-get", "echo 'no route' >&2; exit 100");

        final LauncherTree.Run run = tree.run("dev", "guest", "--prepare");

        assertThat(run.status()).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(run.err()).contains("lists cannot be fetched", "prepare.log");
        assertThat(tree.root().resolve(".verbena/guest/prepare.log")).content().contains("no route");
        assertThat(tree.root().resolve(".verbena/guest/tree")).doesNotExist();
    }

    @Test
    void shouldNotDownloadWhenToldNotTo()
    {
        tree.tools("uname", "cksum");

        final LauncherTree.Run run = tree.run("dev", "guest", "--no-download", "--", "true");

        assertThat(run.status()).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(run.err().lines()).singleElement().asString().contains("not prepared", "--prepare");
    }

    @Test
    void shouldPassCommandFolderAndEnvironmentInAndOutputAndStatusOut() throws IOException
    {
        pretend("""
            cat "$orders/root" "$orders/orders" > "$VERBENA_GUEST_CACHE/seen"
            echo to-out > "$orders/out"
            echo to-err > "$orders/err"
            echo 7 > "$orders/status"
            """);
        tree.environment("JAVA_HOME", "/a jdk").environment("MINE", "it's").environment("OTHER", "no");

        final LauncherTree.Run run = tree.run("dev", "guest", "--env=MINE", "--", "echo", "two words", "*", "");

        assertThat(run.status()).as(run.err()).isEqualTo(7);
        assertThat(run.out()).isEqualTo("to-out\n");
        assertThat(run.err()).isEqualTo("to-err\n");
        assertThat(folder.resolve("cache/seen")).content()
            .startsWith(tree.root() + "\n")
            .contains("command=( echo two\\ words \\* '' )", "JAVA_HOME=/a\\ jdk", "MINE=it\\'s")
            .contains("folder=" + folder.toRealPath())
            .doesNotContain("OTHER");
        assertNothingLeft();
    }

    @Test
    void shouldNotTakeAGuestThatDiesForOneThatSucceeds() throws IOException
    {
        pretend("""
            echo 'Kernel panic' > "$orders/console"
            : > "$orders/out"
            : > "$orders/err"
            echo 'could not allocate memory' >&2
            exit 0
            """);

        final LauncherTree.Run run = tree.run("dev", "guest", "--", "true");

        assertThat(run.status()).isEqualTo(ExitStatus.INTERNAL);
        assertThat(run.err()).contains("Kernel panic", "ended without a result", "could not allocate memory");
        assertNothingLeft();
    }

    @Test
    void shouldEndAGuestThatTakesTooLong() throws IOException
    {
        pretend("""
            : > "$orders/out"
            : > "$orders/err"
            exec sleep 600
            """);

        final LauncherTree.Run run = tree.run("dev", "guest", "--timeout=1", "--", "true");

        assertThat(run.status()).isEqualTo(LATE);
        assertThat(run.err()).contains("did not end within 1 s");
        assertNothingLeft();
    }

    @ParameterizedTest
    @ValueSource(strings = {"kill -9 $$", "echo 'Kernel panic - not syncing' > \"$orders/console\"; exec sleep 600"})
    void shouldNotTakeAGuestThatIsKilledOrHangsInAPanicForASlowOne(final String end) throws IOException
    {
        pretend("""
            : > "$orders/out"
            : > "$orders/err"
            """ + end);

        final LauncherTree.Run run = tree.run("dev", "guest", "--timeout=" + (end.startsWith("kill") ? 600 : 1), "--",
            "true");

        assertThat(run.status()).isEqualTo(ExitStatus.INTERNAL);
        assertThat(run.err()).contains("ended without a result");
        assertNothingLeft();
    }

    @Test
    void shouldEndTheGuestWhenItIsEndedItself() throws IOException, InterruptedException
    {
        pretend("""
            echo "$$" > "$VERBENA_GUEST_CACHE/pid"
            : > "$orders/err"
            echo started > "$orders/out"
            exec sleep 600
            """);
        final Process process = tree.start(folder, tree.root().resolve("verbena"), "dev", "guest", "--", "true");
        assertThat(process.inputReader().readLine()).isEqualTo("started");

        process.destroy();

        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(143);
        final long guest = Long.parseLong(Files.readString(folder.resolve("cache/pid")).strip());
        ProcessHandle.of(guest).ifPresent(handle -> handle.onExit().orTimeout(30, TimeUnit.SECONDS).join());
        assertNothingLeft();
    }

    @Test
    void shouldEndTheGuestAlsoWhenItsTimeoutDoesNotPassTheSignalOn() throws IOException, InterruptedException
    {
        pretend("""
            echo "$$" > "$VERBENA_GUEST_CACHE/pid"
            : > "$orders/err"
            echo started > "$orders/out"
            exec sleep 600
            """);
        // What timeout(1) is between fork() and the assignment of its result: the leader of a group, which dies of the
        // signal.
        tree.tools("perl");
        tree.tool("timeout", """
            exec perl -e 'setpgrp(0, 0); if (fork() == 0) { exec @ARGV[2 .. $#ARGV]; } wait;' -- "$@"
            """);
        final Process process = tree.start(folder, tree.root().resolve("verbena"), "dev", "guest", "--", "true");
        assertThat(process.inputReader().readLine()).isEqualTo("started");

        process.destroy();

        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        final long guest = Long.parseLong(Files.readString(folder.resolve("cache/pid")).strip());
        ProcessHandle.of(guest).ifPresent(handle -> handle.onExit().orTimeout(30, TimeUnit.SECONDS).join());
        assertNothingLeft();
    }

    /** A prepared tree whose QEMU is this script; 'orders' in it is the folder that host and guest share. */
    private void pretend(final String body) throws IOException
    {
        assumeTrue("amd64".equals(System.getProperty("os.arch")), "the guest is made for x86-64");
        tree.tools("uname", "cksum", "mktemp", "mkfifo", "timeout", "tr", "tail", "sleep", "grep");
        final Path cache = Files.createDirectories(folder.toRealPath().resolve("cache"));
        tree.environment("VERBENA_GUEST_CACHE", cache.toString());
        tree.executable(cache.resolve("tree/usr/bin/qemu-system-x86_64"), """
            for argument; do
                case $argument in
                    file,id=out,path=*) orders=${argument#*path=}; orders=${orders%/out};;
                esac
            done
            """ + body);
        tree.write(cache.resolve("tree/kernel-version"), "6.1\n");
        final Process recipe = new ProcessBuilder(
            "bash", "-c", "cat \"$0/prepare.sh\" \"$0/initramfs-init\" | cksum > \"$1/tree/made-from\"",
            tree.root().resolve("dev/guest").toString(), cache.toString()).inheritIO().start();
        assertThat(LauncherTree.finish(recipe).status()).isZero();
    }

    private void assertNothingLeft() throws IOException
    {
        try (Stream<Path> left = Files.list(folder.toRealPath()))
        {
            assertThat(left.filter(file -> file.getFileName().toString().startsWith("verbena-guest"))).isEmpty();
        }
    }
}
