package io.verbena.resp;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/** The tables of {@code docs/redis.md} name the commands and subcommands that there are, and no others. */
@Timeout(60)
class RespPageTest extends ServerFixture
{
    private static final Pattern NAME = Pattern.compile("\\b[A-Z][A-Z-]+");
    /** Of {@code EVAL} and its kin the page says only that they have such forms. */
    private static final String READ_ONLY_FORM = "_RO";

    /** First cells of the tables of one section. */
    private static List<String> cells(final String page, final String title)
    {
        final String section = page.split("\n## " + title + "\n")[1].split("\n## ")[0];
        return section.lines().filter((line) -> line.matches("\\| [A-Za-z].*"))
            .map((line) -> line.substring(2).split(" \\| ")[0]).toList();
    }

    private static List<String> names(final String text)
    {
        final List<String> names = new ArrayList<>();
        final Matcher matcher = NAME.matcher(text);
        while (matcher.find())
        {
            names.add(matcher.group());
        }
        return names;
    }

    private static Set<String> commands(final RawClient client) throws IOException
    {
        final Set<String> commands = new TreeSet<>();
        Arrays.stream(client.ask("COMMAND LIST").split(" ")).filter((word) -> word.matches("[a-z_]+"))
            .forEach((word) -> commands.add(word.toUpperCase(Locale.ROOT)));
        return commands;
    }

    /** Its subcommands, as HELP names them; empty where it has none. By a client of its own: one command is QUIT. */
    private Set<String> subcommands(final String command) throws IOException
    {
        final String[] help;
        try (RawClient client = new RawClient(server.port()))
        {
            help = client.ask(command + " HELP").split("Subcommands are:");
        }
        final Set<String> names = new TreeSet<>();
        if (2 == help.length)
        {
            names.addAll(names(help[1]));
            names.remove("HELP");
        }
        return names;
    }

    @Test
    void shouldHaveWhatThePageNamesAndNothingElse() throws IOException
    {
        final String page = Files.readString(Path.of("../docs/redis.md"));
        final List<String> cells = new ArrayList<>(cells(page, "Cluster clients"));
        cells.addAll(cells(page, "Commands"));
        final Set<String> named = new TreeSet<>();
        try (RawClient client = new RawClient(open(new RespConfiguration().cluster(true))))
        {
            final Set<String> commands = commands(client);
            assertThat(commands).contains("GET", "EVAL_RO", "MSETNX");
            for (final String cell : cells)
            {
                for (final String part : cell.split(", "))
                {
                    addNamed(client, commands, part, named);
                }
            }
            for (final String command : commands)
            {
                assertThat(named).contains(command.replace(READ_ONLY_FORM, ""));
                for (final String subcommand : subcommands(command))
                {
                    assertThat(named).contains(command + ' ' + subcommand);
                }
            }
        }
    }

    /** A command and its subcommands; or commands, the last of which may have options. */
    private void addNamed(
        final RawClient client, final Set<String> commands, final String part, final Set<String> named)
        throws IOException
    {
        final List<String> names = names(part);
        final Set<String> subcommands = names.isEmpty() ? Set.of() : subcommands(names.getFirst());
        if (subcommands.isEmpty())
        {
            final List<String> bare = names(part.split(" with ")[0]);
            assertThat(commands).as(part).containsAll(bare);
            named.addAll(bare);
            return;
        }
        named.add(names.getFirst());
        for (final String subcommand : names.subList(1, names.size()))
        {
            assertThat(client.ask(names.getFirst() + ' ' + subcommand)).as(part).doesNotContain("unknown subcommand '");
            named.add(names.getFirst() + ' ' + subcommand);
        }
    }
}
