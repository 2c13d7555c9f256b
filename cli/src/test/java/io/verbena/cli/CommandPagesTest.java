package io.verbena.cli;

import io.verbena.cli.console.SettingsProvider;

import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import static org.assertj.core.api.Assertions.assertThat;

/** Makes the tables of docs/configuration.md from the commands, and compares. */
class CommandPagesTest
{
    private static final String BEGIN = "<!-- from here on made from the code -->\n";
    /** Each has a table of its own; options of the others stand in one table by their names. */
    private static final List<String> ROLES = List.of("meta-server", "memory-node", "compute-node");

    private static boolean hasSettings(final CommandLine line)
    {
        return line.getDefaultValueProvider() instanceof SettingsProvider;
    }

    private static String row(final OptionSpec option, final String defaultValue, final String more)
    {
        return "| `" + option.longestName() + (option.paramLabel().isEmpty() || 0 == option.arity().max() ? "" :
            " " + option.paramLabel()) + "` | `" + SettingsProvider.variable(option) + "` |" +
            (defaultValue.isEmpty() ? "" : " " + defaultValue + " ") + "| " + more + " |\n";
    }

    private static String defaultValue(final OptionSpec option)
    {
        return null == option.defaultValue() ? "" : option.defaultValue();
    }

    private static String text(final OptionSpec option)
    {
        return String.join(" ", option.description()).replace(" Default: " + defaultValue(option) + '.', "")
            .replace("%n", " ").replace("|", "\\|");
    }

    private static boolean isSetting(final OptionSpec option)
    {
        return !option.usageHelp() && !option.versionHelp() && !option.hidden() &&
            !"--stacktrace".equals(option.longestName());
    }

    private static void collect(
        final CommandLine line, final String name, final Map<String, OptionSpec> options,
        final Map<String, List<String>> commands, final Map<String, Set<String>> defaults)
    {
        if (hasSettings(line) && line.getSubcommands().isEmpty())
        {
            line.getCommandSpec().options().stream().filter(CommandPagesTest::isSetting).forEach((option) ->
            {
                options.putIfAbsent(option.longestName(), option);
                defaults.computeIfAbsent(option.longestName(), (_) -> new TreeSet<>()).add(defaultValue(option));
                commands.computeIfAbsent(option.longestName(), (_) -> new ArrayList<>()).add('`' + name + '`');
            });
        }
        line.getSubcommands().forEach((subcommand, child) ->
            collect(child, (name + ' ' + subcommand).strip(), options, commands, defaults));
    }

    private static String tables()
    {
        final CommandLine root = VerbenaCommand.commandLine(false);
        final StringBuilder text = new StringBuilder();
        for (final String role : ROLES)
        {
            text.append("\n## ").append(role).append("\n\n| option | environment | default | meaning |\n")
                .append("|---|---|---|---|\n");
            root.getSubcommands().get(role).getCommandSpec().options().stream()
                .filter(CommandPagesTest::isSetting).forEach((option) ->
                    text.append(row(option, defaultValue(option), text(option))));
        }
        final Map<String, OptionSpec> options = new TreeMap<>();
        final Map<String, List<String>> commands = new LinkedHashMap<>();
        final Map<String, Set<String>> defaults = new HashMap<>();
        root.getSubcommands().forEach((name, line) ->
        {
            if (!ROLES.contains(name))
            {
                collect(line, name, options, commands, defaults);
            }
        });
        text.append("\n## Other commands\n\n`--help` of each says what an option means.\n\n")
            .append("| option | environment | default | of |\n|---|---|---|---|\n");
        options.forEach((name, option) -> text.append(row(
            option, defaults.get(name).size() > 1 ? "differs" : defaultValue(option), of(commands.get(name)))));
        return text.toString();
    }

    private static String of(final List<String> commands)
    {
        return commands.size() > 5 ? commands.size() + " commands" : String.join(", ", commands);
    }

    @Test
    void shouldListEachOptionAsTheCodeHasIt() throws IOException
    {
        final Path page = SourceTree.root().resolve("docs/configuration.md");
        final String text = SourceTree.text(page);
        final int begin = text.indexOf(BEGIN);
        assertThat(begin).as("a line " + BEGIN).isPositive();
        final String expected = text.substring(0, begin) + BEGIN + tables();
        final Path made = SourceTree.root().resolve("target/configuration.md");
        Files.createDirectories(made.getParent());
        Files.writeString(made, expected);
        assertThat(text).as("docs/configuration.md; copy " + made).isEqualTo(expected);
    }
}
