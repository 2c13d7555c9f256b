package io.verbena.cli.shell;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.console.CommandOutput;
import io.verbena.cli.console.ExitStatus;
import org.jline.terminal.impl.ExternalTerminal;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;

/** The shell over a cluster of processes: lines from a file, and keys that a person types. */
@Timeout(400)
class ShellSystemTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(100);
    /** What the reader writes when it has a line: bracketed paste ends. */
    private static final String ACCEPTED = "\u001b[?2004l";

    @TempDir
    private Path directory;
    private CommandLines.Result last;

    private Path cluster()
    {
        return directory.resolve("cluster");
    }

    private int run(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", cluster().toString()));
        last = CommandLines.piped(all);
        return last.status();
    }

    private int batch(final String lines, final String... options)
    {
        final InputStream before = System.in;
        System.setIn(new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8)));
        try
        {
            final List<String> all = new ArrayList<>(List.of("shell"));
            all.addAll(List.of(options));
            return run(all.toArray(new String[0]));
        }
        finally
        {
            System.setIn(before);
        }
    }

    @AfterEach
    void leaveNothingBehind()
    {
        run("down", "--discard");
    }

    @Test
    void shouldServeFilesAndPersonsAndOutliveTheCluster() throws Exception
    {
        assertThat(run("up", "--memory", "64")).as(last.err()).isZero();
        executeBatches();
        printJson();
        refuseInOneLine();
        serveAPerson();
        outliveTheCluster();
    }

    private void executeBatches() throws IOException
    {
        assertThat(batch("""
            # a comment
            put hello world
            ./verbena get hello

            get 'hello' --show-version --timeout-ms 4000
            put 'two
            lines' "it's"
            get 'two
            lines'
            put --hex 00ff 0a0b
            get --hex 00ff
            table create other
            use other
            put k v
            exit
            get nothing
            """)).as(last.err()).isZero();
        final List<String> lines = last.out().lines().toList();
        assertThat(lines).hasSize(8);
        assertThat(lines.get(1)).isEqualTo("world");
        assertThat(lines.get(2)).isEqualTo(lines.get(0) + "\tworld");
        assertThat(lines.get(4)).isEqualTo("it's");
        assertThat(lines.get(6)).isEqualTo("0a0b");
        assertThat(run("get", "k", "--table", "other")).isZero();
        assertThat(last.out()).as("outside of the shell, the exact bytes").isEqualTo("v");
        assertThat(run("get", "k")).isEqualTo(ExitStatus.FAILED);
    }

    private void printJson()
    {
        assertThat(batch("""
            table create json
            use json
            put a 'b"c' --json
            get a --json
            put --key-hex ff00 text --json
            get --key-hex ff00
            get --key-hex ff00 --json
            get --hex ff00 --json
            put --hex 61 ff --json
            get a --json
            exists a --json
            append a d --json
            delete a --json
            increment n 42 --json
            scan --limit 0 --json
            scan --json --keys
            scan --key-hex
            put --key-hex 6e 7
            delete --key-hex ff00
            scan --json
            """)).as(last.err()).isZero();
        final List<String> lines = last.out().lines().map((line) -> line.replaceAll("1\\d{18}", "V")).toList();
        assertThat(lines.subList(0, 11)).containsExactly(
            "{\"key\":\"a\",\"version\":V}",
            "{\"key\":\"a\",\"value\":\"b\\\"c\",\"version\":V}",
            "{\"key_hex\":\"ff00\",\"version\":V}",
            "text",
            "{\"key_hex\":\"ff00\",\"value\":\"text\",\"version\":V}",
            "{\"key_hex\":\"ff00\",\"value_hex\":\"74657874\",\"version\":V}",
            "{\"key_hex\":\"61\",\"version\":V}",
            "{\"key\":\"a\",\"value_hex\":\"ff\",\"version\":V}",
            "{\"key\":\"a\",\"exists\":true}",
            "{\"key\":\"a\",\"version\":V}",
            "{\"key\":\"a\",\"deleted\":true}");
        assertThat(lines.get(11)).isEqualTo("{\"key\":\"n\",\"counter\":42}");
        assertThat(lines.subList(12, 14)).containsExactlyInAnyOrder(
            "{\"key\":\"n\",\"version\":V}", "{\"key_hex\":\"ff00\",\"version\":V}");
        assertThat(lines.subList(14, 16)).containsExactlyInAnyOrder("ff00\ttext", "6e\t*\0\0\0\0\0\0\0");
        assertThat(lines.getLast()).isEqualTo("{\"key\":\"n\",\"value\":\"7\",\"version\":V}");
        assertRefused("get a --json --file x", "line 1: --json and --file: choose one");
        assertRefused("get --key-hex abc", "line 1: KEY 'abc': not hex digits");
        assertThat(batch("use json\nexists a --json\n")).isEqualTo(ExitStatus.FAILED);
        assertThat(last.out()).isEqualTo("{\"key\":\"a\",\"exists\":false}\n");
    }

    private void refuseInOneLine()
    {
        assertThat(batch("get hello\nget nothing\nput after it\n")).isEqualTo(ExitStatus.FAILED);
        assertThat(last.err()).isEqualTo("verbena: line 2: no such record\n");
        assertThat(run("exists", "after")).as("behind the line that failed").isEqualTo(ExitStatus.FAILED);
        assertThat(batch("get a 'b\n\nc' d e\nget nothing\nput after it\n", "--keep-going"))
            .isEqualTo(ExitStatus.USAGE);
        assertThat(last.err().lines()).hasSize(2).satisfiesExactly(
            (first) -> assertThat(first).startsWith("verbena: line 1: "),
            (second) -> assertThat(second).isEqualTo("verbena: line 4: no such record"));
        assertThat(run("delete", "after")).isZero();

        assertRefused("bogus", "line 1: unknown command 'bogus': 'help' lists the commands");
        assertRefused("up", "line 1: unknown command 'up'");
        assertRefused("shell", "line 1: unknown command 'shell'");
        assertRefused("put k --stdin", "line 1: --stdin: the shell reads its lines from there");
        assertRefused("put k --file -", "line 1: --file: the shell reads its lines from there");
        assertRefused("load -", "line 1: -: the shell reads its lines from there");
        assertRefused("get --bogus k", "line 1: there is no option '--bogus'");
        assertRefused("use nothing", "line 1: no such table: name=nothing");
        assertRefused("get 'k", "line 1: ' is not closed");
        assertRefused("help bogus", "line 1: unknown command 'bogus'");
        assertThat(batch("get k", "--timeout-ms", "0")).isEqualTo(ExitStatus.USAGE);
    }

    private void assertRefused(final String line, final String message)
    {
        assertThat(batch(line)).as(line).isEqualTo(ExitStatus.USAGE);
        assertThat(last.err()).as(line).hasLineCount(1).startsWith("verbena: " + message);
    }

    /** A terminal at which Ctrl-C comes right before or after the reader has given the signal back to the shell. */
    private static final class SignalledTerminal extends ExternalTerminal
    {
        private volatile boolean comesBefore;
        private volatile boolean comesAfter;
        private SignalHandler shell;

        private SignalledTerminal(final InputStream keys, final OutputStream screen) throws IOException
        {
            super("test", "xterm", keys, screen, StandardCharsets.UTF_8);
        }

        @Override
        public SignalHandler handle(final Signal signal, final SignalHandler handler)
        {
            if (Signal.INT == signal && null == shell)
            {
                shell = handler;
            }
            final boolean isGivenBack = Signal.INT == signal && shell == handler;
            if (isGivenBack && comesBefore)
            {
                comesBefore = false;
                raise(Signal.INT);
            }
            final SignalHandler before = super.handle(signal, handler);
            if (isGivenBack && comesAfter)
            {
                comesAfter = false;
                raise(Signal.INT);
            }
            return before;
        }
    }

    /** A shell at a terminal that the test types at. */
    private final class Typing implements AutoCloseable
    {
        private final ByteArrayOutputStream screen = new ByteArrayOutputStream();
        private final PipedOutputStream keys = new PipedOutputStream();
        private final SignalledTerminal terminal;
        private final CompletableFuture<Integer> status;
        private int seen;

        private Typing(final Path history) throws IOException
        {
            terminal = new SignalledTerminal(new PipedInputStream(keys, 1 << 16), screen);
            final CommandOutput out = CommandOutput.to(screen, true);
            final ShellSession session = new ShellSession(CommandLines.shellLines(), Map.of(
                "VERBENA_DATA", cluster().toString(), "VERBENA_TIMEOUT_MS", "60000"), "default", out,
                new PrintWriter(screen, true));
            status = CompletableFuture.supplyAsync(() ->
            {
                try (session)
                {
                    return new ShellTerminal(session).run(terminal, out, history);
                }
            });
            await("verbena default> ");
        }

        private void type(final String text) throws IOException
        {
            keys.write(text.getBytes(StandardCharsets.UTF_8));
            keys.flush();
        }

        /** Waits until the screen shows a text, behind what was awaited before. */
        private void await(final String text)
        {
            final long deadlineNs = System.nanoTime() + STEP_NS;
            while (shown().indexOf(text, seen) < 0 && System.nanoTime() - deadlineNs < 0)
            {
                LockSupport.parkNanos(5_000_000);
            }
            assertThat(shown().substring(Math.min(seen, shown().length()))).contains(text);
            seen = shown().indexOf(text, seen) + text.length();
        }

        private String shown()
        {
            return screen.toString(StandardCharsets.UTF_8);
        }

        @Override
        public void close() throws IOException
        {
            keys.close();
            status.orTimeout(STEP_NS, TimeUnit.NANOSECONDS).join();
            terminal.close();
        }
    }

    private void serveAPerson() throws Exception
    {
        final Path history = directory.resolve("history");
        try (Typing shell = new Typing(history))
        {
            shell.type("put k\u00e4 hey!\r");
            shell.await("verbena default> ");
            shell.type("ge\tk\u00e4\r");
            shell.await("hey!");
            shell.type("get k\u00e4 --show-v\t\r");
            shell.await("\they!");
            shell.type("use oth\t\r");
            shell.await("verbena other> ");
            shell.type("put --table def\tk2 v2\r");
            shell.await("verbena other> ");
            shell.type("get nothing\r");
            shell.await("verbena: no such record");
            shell.await("verbena other> ");
            shell.type("get 'k\r");
            shell.await("> ");
            shell.type("2'");
            shell.await("2'");
            shell.type("\003"); // Ctrl-C: the line is given up
            shell.await("verbena other> ");
            shell.type("get k2 -t default\r");
            shell.await("v2");
            shell.await("verbena other> ");
            shell.type(" put secret s\r");
            shell.await("verbena other> ");
            shell.type("\004"); // Ctrl-D
            assertThat(shell.status.get(STEP_NS, TimeUnit.NANOSECONDS)).isZero();
        }
        assertThat(Files.readString(history)).contains("put k\u00e4 hey!", "use other").doesNotContain("secret");
        try (Typing shell = new Typing(history))
        {
            shell.type("\022use o\r"); // Ctrl-R: the last line that has it
            shell.await("verbena other> ");
            shell.type("quit\r");
            assertThat(shell.status.get(STEP_NS, TimeUnit.NANOSECONDS)).isZero();
        }
    }

    /** Also before the command has begun: at its deadline it would print something else. */
    private void interruptAtAnyMoment(final Typing shell) throws IOException
    {
        shell.type("get hello\r");
        shell.await("get hello");
        shell.await(ACCEPTED);
        shell.type("\003");
        shell.await("verbena: interrupted");
        shell.await("verbena default> ");
        for (final boolean isBefore : List.of(true, false))
        {
            shell.terminal.comesBefore = isBefore;
            shell.terminal.comesAfter = !isBefore;
            shell.type("get hello\r");
            shell.await("verbena: interrupted");
            shell.await("verbena default> ");
        }
        shell.type("get hello --timeout-ms 3000\r"); // which none was for
        shell.await(" found no node");
        shell.await("verbena default> ");
    }

    private void outliveTheCluster() throws Exception
    {
        try (Typing shell = new Typing(null))
        {
            shell.type("get hello\r");
            shell.await("world");
            assertThat(run("scale", "--compute-nodes", "0")).isZero();
            shell.await("verbena default> ");
            interruptAtAnyMoment(shell);
            assertThat(run("down")).isZero();
            shell.type("get hello --timeout-ms 300\r");
            shell.await("verbena: ");
            shell.await("verbena default> ");
            assertThat(run("up")).isZero();
            assertThat(ClusterFolder.of(cluster()).address()).isNotEmpty();
            shell.type("get hello\r");
            shell.await("world");
            shell.type("exit\r");
            assertThat(shell.status.get(STEP_NS, TimeUnit.NANOSECONDS)).isZero();
        }
    }
}
