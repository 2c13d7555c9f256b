package io.verbena.cli;

import org.junit.jupiter.api.Test;
import picocli.CommandLine;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Pages for readers: each begins with the question it answers, is read in ten minutes, stands in the index, and names
 * only types, methods, commands and options that exist.
 */
class DocumentsTest
{
    /** Some 200 words a minute, and tables that are looked up rather than read. */
    private static final int MAX_WORDS = 2_400;
    private static final int MAX_LINE_WIDTH = 120;
    private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");
    /** A name of Java: with a capital letter inside, as {@code postSend} and {@code QueuePair}; no flag of a JVM. */
    private static final Pattern NAME = Pattern.compile("(?<![-:+\\w])[A-Za-z][a-z0-9]*[a-z][A-Z]\\w*");
    private static final Pattern OPTION = Pattern.compile("(?<![\\w-])--[a-z][a-z-]*");
    private static final Pattern PAGE = Pattern.compile("\\bdocs/[a-z][\\w/-]*\\.md\\b");
    private static final Pattern POD_START = Pattern.compile("\\n +args:((?:\\n +- .*)+)");
    private static final String UNIT_START = "ExecStart=/opt/verbena/verbena ";
    private static final String LAUNCHER = "./verbena ";
    private static final CommandLine VERBENA = VerbenaCommand.commandLine(false);
    /** Their arguments are those of other programs. */
    private static final Set<String> PASSED_ON = Set.of("test", "java", "classpath", "dev");

    private static List<Path> pages()
    {
        final Path docs = SourceTree.root().resolve("docs");
        return SourceTree.files(".md").stream().filter((page) -> page.startsWith(docs)).toList();
    }

    private static List<Path> pagesOfReaders()
    {
        final List<Path> pages = new ArrayList<>(pages());
        pages.add(SourceTree.root().resolve("README.md"));
        pages.add(SourceTree.root().resolve("CONTRIBUTING.md"));
        return pages;
    }

    private static String where(final Path page)
    {
        return SourceTree.root().relativize(page).toString();
    }

    /** Calls with each line of a page, and whether it is code. */
    private static void forEachLine(final Path page, final BiConsumer<String, Boolean> consumer)
    {
        boolean isCode = false;
        for (final String line : SourceTree.text(page).split("\n"))
        {
            if (line.startsWith("```"))
            {
                isCode = !isCode;
            }
            else
            {
                consumer.accept(line, isCode);
            }
        }
    }

    @Test
    void shouldBeginWithTheQuestion()
    {
        final Path decisions = SourceTree.root().resolve("docs/decisions");
        assertThat(pages().stream().filter((page) -> !page.startsWith(decisions))).hasSizeGreaterThan(50)
            .allSatisfy((page) -> assertThat(SourceTree.text(page).lines().findFirst().orElseThrow())
                .as(where(page)).startsWith("# ").contains("?"));
    }

    @Test
    void shouldBeReadInTenMinutes()
    {
        assertThat(pagesOfReaders()).allSatisfy((page) ->
            assertThat(SourceTree.text(page).split("\\s+").length).as(where(page)).isLessThan(MAX_WORDS));
    }

    @Test
    void shouldWrapLines()
    {
        final List<String> offences = new ArrayList<>();
        pagesOfReaders().forEach((page) -> forEachLine(page, (line, isCode) ->
        {
            // A link or an image cannot be broken, nor can a row of a table.
            if (line.length() > MAX_LINE_WIDTH && !isCode && !line.startsWith("|") && !line.startsWith("!["))
            {
                offences.add(where(page) + ": " + line);
            }
        }));
        assertThat(offences).isEmpty();
    }

    @Test
    void shouldStandInTheIndex()
    {
        final Path docs = SourceTree.root().resolve("docs");
        final String index = SourceTree.text(docs.resolve("README.md"));
        final String decisions = SourceTree.text(docs.resolve("decisions/README.md"));
        assertThat(pages().stream().filter((page) -> !page.equals(docs.resolve("README.md")) &&
            !page.equals(docs.resolve("decisions/README.md")))).allSatisfy((page) ->
        {
            final boolean isDecision = page.startsWith(docs.resolve("decisions"));
            final Path name = isDecision ? page.getFileName() : docs.relativize(page);
            assertThat(isDecision ? decisions : index).contains("(" + name + ")");
        });
    }

    @Test
    void shouldNameWhatExists()
    {
        final String sources = List.of(".java", ".properties", ".xml", ".sh").stream()
            .flatMap((suffix) -> SourceTree.files(suffix).stream())
            .map(SourceTree::text).collect(Collectors.joining("\n"));
        final Set<String> words = Arrays.stream(sources.split("\\W+")).collect(Collectors.toSet());
        final List<String> offences = new ArrayList<>();
        final List<Path> pages = new ArrayList<>(pages());
        pages.add(SourceTree.root().resolve("README.md"));
        pages.forEach((page) -> forEachLine(page, (line, isCode) ->
        {
            final Matcher code = CODE.matcher(isCode ? "" : line);
            while (code.find())
            {
                final Matcher name = NAME.matcher(code.group(1));
                while (name.find())
                {
                    // Parts of names, too: rules of the verbs stand without their "should".
                    if (!words.contains(name.group()) && !sources.contains(name.group()))
                    {
                        offences.add(where(page) + ": no " + name.group());
                    }
                }
            }
        }));
        assertThat(offences).isEmpty();
    }

    /** As comments of the code name them. */
    @Test
    void shouldBeWhereTheCodeNamesThem()
    {
        final List<String> offences = new ArrayList<>();
        List.of(".java", ".xml", ".sh", ".txt").stream().flatMap((suffix) -> SourceTree.files(suffix).stream())
            .forEach((file) -> PAGE.matcher(SourceTree.text(file)).results()
                .filter((page) -> !Files.exists(SourceTree.root().resolve(page.group())))
                .forEach((page) -> offences.add(where(file) + ": no " + page.group())));
        assertThat(offences).isEmpty();
    }

    @Test
    void shouldNameCommandsAndOptionsThatExist()
    {
        final List<String> offences = new ArrayList<>();
        final int[] commands = {0};
        pagesOfReaders().forEach((page) -> forEachLine(page, (line, isCode) ->
        {
            for (final String command : commands(line, isCode))
            {
                commands[0]++;
                final String offence = offence(command);
                if (null != offence)
                {
                    offences.add(where(page) + ": " + offence + " in: " + command);
                }
            }
        }));
        assertThat(offences).isEmpty();
        assertThat(commands[0]).isGreaterThan(80);
    }

    /** Each unit of systemd, by the command that it starts. */
    @Test
    void shouldNameCommandsAndOptionsThatExistInUnits()
    {
        assertThat(SourceTree.files(".service")).hasSize(5).allSatisfy((unit) ->
        {
            final List<String> starts = SourceTree.text(unit).lines()
                .filter((line) -> line.startsWith(UNIT_START)).map((line) -> line.substring(UNIT_START.length()))
                .toList();
            assertThat(starts).as(where(unit)).hasSize(1)
                .allSatisfy((start) -> assertThat(offence(start)).as(where(unit)).isNull());
            assertThat(SourceTree.text(unit)).contains(
                "/etc/verbena/" + unit.getFileName().toString().replaceAll("verbena-|@?\\.service", "") + ".conf");
        });
    }

    /** Each pod, by the words that it is started with. */
    @Test
    void shouldNameCommandsAndOptionsThatExistInPods()
    {
        final List<String> starts = new ArrayList<>();
        SourceTree.files(".yaml").stream().filter((file) -> where(file).startsWith("deploy/kubernetes")).forEach(
            (file) -> POD_START.matcher(SourceTree.text(file)).results().forEach((start) ->
                starts.add(start.group(1).replaceAll("\\s+- ", " ").strip())));
        assertThat(starts).hasSize(4).allSatisfy((start) -> assertThat(offence(start)).isNull());
    }

    /** The check itself: a command, an option of another one, and a subcommand that is missing. */
    @Test
    void shouldSeeWhatDoesNotExist()
    {
        assertThat(offence("up --compute-nodes 2")).isNull();
        assertThat(offence("table check --all --sweep   says more: --repair")).isNull();
        assertThat(offence("dev guest --env=A")).isNull();
        assertThat(offence("upp --compute-nodes 2")).contains("upp");
        assertThat(offence("down --compute-nodes 2")).contains("--compute-nodes");
        assertThat(offence("bench nothing")).contains("nothing");
        assertThat(commands("a `./verbena get` and `./verbena put a b`", false)).containsExactly("get", "put a b");
        assertThat(commands("./verbena dev guest -- ./verbena demo --fabric x", true))
            .containsExactly("dev guest --", "demo --fabric x");
    }

    private static List<String> commands(final String line, final boolean isCode)
    {
        final List<String> commands = new ArrayList<>();
        final List<String> codes = new ArrayList<>();
        if (isCode)
        {
            codes.add(line);
        }
        else
        {
            CODE.matcher(line).results().forEach((code) -> codes.add(code.group(1)));
        }
        for (final String code : codes)
        {
            final String[] parts = (" " + code).split(Pattern.quote(LAUNCHER));
            Arrays.stream(parts).skip(1).map(String::strip).forEach(commands::add);
        }
        return commands;
    }

    /** What a command names that does not exist; null if all does. */
    private static String offence(final String line)
    {
        CommandLine command = VERBENA;
        for (final String word : line.split("[ ,:;)']+"))
        {
            if (command.getSubcommands().isEmpty() || word.startsWith("-") || word.matches("[A-Z]+"))
            {
                break;
            }
            if (!command.getSubcommands().containsKey(word))
            {
                return "no command " + word;
            }
            command = command.getSubcommands().get(word);
            if (PASSED_ON.contains(word))
            {
                return null;
            }
        }
        final Matcher option = OPTION.matcher(line);
        while (option.find())
        {
            if (!command.getCommandSpec().optionsMap().containsKey(option.group()))
            {
                return "no option " + option.group();
            }
        }
        return null;
    }
}
