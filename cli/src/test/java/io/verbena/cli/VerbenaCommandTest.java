package io.verbena.cli;

import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import static org.assertj.core.api.Assertions.assertThat;

class VerbenaCommandTest
{
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    @Test
    void shouldHelpWithEveryCommand()
    {
        assertThat(run("--help")).isZero();
        assertThat(out.toString()).contains("Usage: verbena", "Exit status:");
        for (final List<String> command : commands(VerbenaCommand.commandLine(false), List.of()))
        {
            out.getBuffer().setLength(0);
            assertThat(run(with(command, "--help"))).as(command.toString()).isZero();
            assertThat(out.toString()).as(command.toString()).startsWith("Usage: verbena " + String.join(" ", command));
        }
    }

    @Test
    void shouldTellItsVersionInBothWays()
    {
        assertThat(run("--version")).isZero();
        final String version = out.toString();
        assertThat(version).startsWith("verbena ").doesNotContain("$").contains("JVM " + Runtime.version());

        out.getBuffer().setLength(0);
        assertThat(run("version")).isZero();
        assertThat(out.toString()).isEqualTo(version);
    }

    @Test
    void shouldHaveOneTableOfExitStatuses()
    {
        run("--help");
        final String page = SourceTree.text(SourceTree.root().resolve("docs/commands.md"));
        final Map<String, String> statuses = new TreeMap<>(VerbenaCommand.commandLine(false)
            .getCommandSpec().usageMessage().exitCodeList());
        assertThat(statuses).isNotEmpty().allSatisfy((status, meaning) ->
            assertThat(page).contains("| " + status + " | " + meaning + " |"));
        for (final int status : List.of(ExitStatus.OK, ExitStatus.FAILED, ExitStatus.UNKNOWN, ExitStatus.USAGE,
            ExitStatus.BAD_DATA, ExitStatus.UNAVAILABLE, ExitStatus.INTERNAL, ExitStatus.CANNOT_CREATE,
            ExitStatus.OUTPUT_FAILED, ExitStatus.INTERRUPTED))
        {
            assertThat(statuses).containsKey(Integer.toString(status));
        }
    }

    /** A start with one command looks at that one only; it has to be the same. */
    @Test
    void shouldBeTheSameCommandWhenItIsTheOnlyOne()
    {
        VerbenaCommand.commandLine(false).getSubcommands().forEach((name, command) ->
        {
            final CommandLine only = VerbenaCommand.commandLine(false, name);
            assertThat(only.getSubcommands().keySet()).containsExactly(name);
            assertThat(only.getSubcommands().get(name).getUsageMessage()).isEqualTo(command.getUsageMessage());
            assertThat(command.getCommandSpec().userObject().getClass().getAnnotation(CommandLine.Command.class).name())
                .as("name in the table and in the class").isEqualTo(name);
        });
    }

    @Test
    void shouldKnowAllCommandsWhenNoneOrAnUnknownOneIsNamed()
    {
        final var all = VerbenaCommand.commandLine(false).getSubcommands().keySet();
        assertThat(VerbenaCommand.commandLine(false, "--help").getSubcommands().keySet()).isEqualTo(all);
        assertThat(VerbenaCommand.commandLine(false, "compute-nod").getSubcommands().keySet()).isEqualTo(all);
    }

    @Test
    void shouldAnswerBadUsageWithOneLine()
    {
        assertOneLine(ExitStatus.USAGE, "no command", run());
        assertOneLine(ExitStatus.USAGE, "'--bogus'", run("--bogus"));
        assertOneLine(ExitStatus.USAGE, "bogus", run("bogus"));
        assertOneLine(ExitStatus.USAGE, "'--bogus'", run("demo", "--bogus"));
        assertOneLine(ExitStatus.USAGE, "many", run("demo", "--threads", "many"));
        assertOneLine(ExitStatus.USAGE, "--seconds 0", run("demo", "--seconds", "0"));
        assertOneLine(ExitStatus.USAGE, "--threads 5000", run("demo", "--threads", "5000"));
        assertOneLine(ExitStatus.USAGE, "at least 4 MiB", run("demo", "--memory", "1"));
        assertOneLine(ExitStatus.USAGE, "--meta-servers 2", run("demo", "--processes", "--meta-servers", "2"));
        assertOneLine(ExitStatus.USAGE, "give --processes", run("demo", "--meta-servers", "3"));
        assertOneLine(ExitStatus.USAGE, "'x'", run("demo", "--workload", "x"));
        assertOneLine(ExitStatus.USAGE, "choose one", run("demo", "-w", "a", "-P", "x"));
        assertOneLine(ExitStatus.USAGE, "scans", run("demo", "--workload", "e"));
        assertOneLine(ExitStatus.USAGE, "./verbena test", run("test"));
        assertOneLine(ExitStatus.USAGE, "./verbena classpath", run("classpath"));
    }

    @Test
    void shouldSayWhatIsMeantInWordsOfTheCommandLine()
    {
        assertOneLine(ExitStatus.USAGE, "there is no command 'statu'; did you mean 'status'? (see verbena --help)",
            run("statu"));
        assertOneLine(ExitStatus.USAGE, "there is no command 'bogus' (see verbena bench --help)",
            run("bench", "bogus"));
        assertOneLine(ExitStatus.USAGE, "there is no command 'bogus' (see verbena table --help)",
            run("table", "bogus"));
        assertOneLine(ExitStatus.USAGE, "'too' is one argument too many (see verbena status --help)",
            run("status", "too"));
        assertOneLine(ExitStatus.USAGE, "there is no option '-x'; put -- before a " +
            "word that begins with '-' and is not an option (see verbena put --help)", run("put", "-x", "y"));
        assertOneLine(ExitStatus.USAGE, "'--memory': 'much' is not a whole number (see", run("up", "--memory", "much"));
        assertOneLine(ExitStatus.USAGE, "'99999999999' is too large", run("up", "--memory", "99999999999"));
        assertOneLine(ExitStatus.USAGE, "'1.5' is not a whole number", run("delete", "k", "--if-version", "1.5"));
        for (final String[] words : new String[][]{{"put", "k"}, {"put", "k", "v", "--stdin"},
            {"replace", "k", "--file", "f", "--stdin"}, {"append", "k", "v", "--file", "f"}})
        {
            assertOneLine(ExitStatus.USAGE, "give one of VALUE, --file and --stdin", run(words));
        }
        assertOneLine(ExitStatus.USAGE, "'99999999999999999999' is not a whole number of 64 bits",
            run("delete", "k", "--if-version", "99999999999999999999"));
    }

    @Test
    void shouldRefuseAnAddressOrAFolderBeforeAnythingIsStarted() throws Exception
    {
        final String cluster = folder.resolve("cluster").toString();
        assertOneLine(ExitStatus.USAGE, "--listen: not the address of a cluster: 'verbena://127.0.0.1:99999'",
            run("up", "--listen", "verbena://127.0.0.1:99999", "--data", cluster));
        final Path file = Files.createFile(folder.resolve("file"));
        assertOneLine(ExitStatus.CANNOT_CREATE, "folder of the cluster " + file + " cannot be used (there is " +
            "something else in its place): give --data DIR", run("up", "--data", file.toString()));
    }

    @Test
    void shouldServeOtherHostsOnlyWhereTheUserAllowsIt()
    {
        final String data = folder.resolve("meta").toString();
        assertOneLine(ExitStatus.USAGE, "--listen verbena://0.0.0.0:0 is for other hosts, too: without TLS and " +
            "sealed packets, hosts on the way may read and change every record. Give the cluster --encrypt",
            run("meta-server", "--data", data, "--listen", "0.0.0.0:0"));
        assertOneLine(ExitStatus.USAGE, "--insecure-network",
            run("meta-server", "--data", data, "--listen", "[::]:0"));
        assertOneLine(ExitStatus.USAGE, "--advertise ::1 is for the fabric roce, and this is soft: leave it out",
            run("meta-server", "--data", data, "--advertise", "::1"));
        assertOneLine(ExitStatus.USAGE, "not the address of a cluster: 'fd00::7'; it looks like verbena://host:7373, " +
            "and with an address of IPv6 like verbena://[fd00::7]:7373",
            run("meta-server", "--data", data, "--listen", "fd00::7"));
    }

    @Test
    void shouldNotReadAValueThatHasNoEnd()
    {
        assertOneLine(ExitStatus.USAGE, "--file /dev/zero: a value has at most 16384 bytes, and this file more",
            run("put", "k", "--file", "/dev/zero"));
    }

    @Test
    void shouldAnswerABadPropertyFileWithOneLine() throws Exception
    {
        assertOneLine(ExitStatus.BAD_DATA, "no such file", run("demo", "-P", folder.resolve("none").toString()));
        final Path file = Files.writeString(folder.resolve("bad"), "recordcount=many\n");
        assertOneLine(ExitStatus.BAD_DATA, "recordcount=many", run("demo", "-P", file.toString()));
    }

    @Test
    void shouldRefuseAnOutputFileThatCannotBeWrittenBeforeTheRun()
    {
        assertOneLine(ExitStatus.CANNOT_CREATE, "no such file or folder",
            run("demo", "--json", folder.resolve("none/x.json").toString()));
    }

    @Test
    void shouldPrintAStackTraceOnlyWhenAsked()
    {
        run("demo", "--workload", "x");
        assertThat(err.toString()).doesNotContain("\tat ");

        run("demo", "--workload", "x", "--stacktrace");
        assertThat(err.toString()).contains("\tat io.verbena");
    }

    private void assertOneLine(final int expectedStatus, final String words, final int status)
    {
        assertThat(status).as(err.toString()).isEqualTo(expectedStatus);
        assertThat(err.toString().lines()).singleElement().asString().startsWith("verbena: ").contains(words);
        assertThat(out.toString()).isEmpty();
        err.getBuffer().setLength(0);
    }

    private int run(final String... args)
    {
        return VerbenaCommand.commandLine(false)
            .setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true)).execute(args);
    }

    private static List<List<String>> commands(final CommandLine commandLine, final List<String> path)
    {
        return commandLine.getSubcommands().entrySet().stream().<List<String>>mapMulti((entry, sink) ->
        {
            final List<String> command = List.of(with(path, entry.getKey()));
            sink.accept(command);
            commands(entry.getValue(), command).forEach(sink);
        }).toList();
    }

    private static String[] with(final List<String> words, final String word)
    {
        final String[] all = words.toArray(new String[words.size() + 1]);
        all[words.size()] = word;
        return all;
    }
}
