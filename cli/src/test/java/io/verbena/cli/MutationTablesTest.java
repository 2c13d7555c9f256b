package io.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The tables of steps and traps in {@code docs/protocol} hold: each step that a mutation leaves out stands in one, and
 * each row names a test that is there and, for a step, leaves it out and asserts what then happens.
 */
class MutationTablesTest
{
    private static final Pattern ROW = Pattern.compile("^\\|(.+)\\|$", Pattern.MULTILINE);
    private static final Pattern STEP = Pattern.compile("`([A-Z][A-Z_]+)`");
    private static final Pattern CONSTANT = Pattern.compile("^    ([A-Z][A-Z_]+)\\(", Pattern.MULTILINE);
    private static final Pattern TEST = Pattern.compile("`(\\w+Test)(?:\\.(\\w+))?`");
    private static final Pattern COMMENT = Pattern.compile("//.*|/\\*(?s:.*?)\\*/");
    private static final Pattern TEST_METHOD =
        Pattern.compile("\\n    @(?:Test|ParameterizedTest)\\b(?s:.*?)\\n    }\\n");
    /** How a test comes from the name of a step, in its annotation, to the mutation. */
    private static final Pattern BY_NAME =
        Pattern.compile("\\bTableMutation\\.named\\(name\\)|\\bReclaimMutation left\\b|\\bGroupMutation left\\b|" +
            "\\bFlaw flaw\\b");
    /** What makes a test fail, by itself or in the class that it hands its shape to. */
    private static final Pattern ASSERTION = Pattern.compile("assert|\\bMutationSearch\\.shouldShow\\(");
    /** Argued on their page; nobody has found a schedule that shows them. */
    private static final Set<String> ARGUED = Set.of();

    private static Map<String, String> tests()
    {
        return SourceTree.files("Test.java").stream().collect(Collectors.toMap(
            (file) -> file.getFileName().toString().replace(".java", ""), SourceTree::text,
            (one, other) -> one + other));
    }

    private static String page(final String name)
    {
        return SourceTree.text(SourceTree.root().resolve("docs/protocol").resolve(name));
    }

    private static Set<String> constants(final String file)
    {
        final Path found = SourceTree.files("/" + file).getFirst();
        final Set<String> names = new TreeSet<>();
        final Matcher constant = CONSTANT.matcher(SourceTree.text(found));
        while (constant.find())
        {
            names.add(constant.group(1));
        }
        return names;
    }

    /** Text of a test: the whole class, or one method of it. */
    private static String text(final Map<String, String> tests, final String type, final String method)
    {
        final String text = tests.get(type);
        final int begin = text == null || method == null ? 0 : text.indexOf("void " + method + "(");
        if (text == null || begin < 0)
        {
            return null;
        }
        if (method == null)
        {
            return text;
        }
        // With its annotations, as far as the end of the method before.
        final int end = text.indexOf("\n    }\n", begin);
        return text.substring(Math.max(0, text.lastIndexOf("\n    }\n", begin)), end < 0 ? text.length() : end);
    }

    /** Whether a test, or one of several, leaves a step out and asserts something then. */
    private static boolean leavesOut(final String text, final String step)
    {
        final Matcher test = TEST_METHOD.matcher(COMMENT.matcher(text).replaceAll("") + "\n    }\n");
        final Pattern inCode = Pattern.compile("(?:(?:Mutation|Flaw)\\.| _ = )" + step + "\\b");
        final Pattern inAnnotation = Pattern.compile("\"[^\"]*\\b" + step + "\\b[^\"]*\"");
        while (test.find())
        {
            final String method = test.group();
            final boolean isNamed = inCode.matcher(method).find() ||
                inAnnotation.matcher(method).find() && BY_NAME.matcher(method).find();
            if (isNamed && ASSERTION.matcher(method).find())
            {
                return true;
            }
        }
        return false;
    }

    /** Steps named by the rows of a page or several, with the rows. */
    private static Map<String, List<String>> rows(final String... pages)
    {
        final Map<String, List<String>> rows = new TreeMap<>();
        final Matcher row =
            ROW.matcher(Arrays.stream(pages).map(MutationTablesTest::page).collect(Collectors.joining()));
        while (row.find())
        {
            final String firstCell = row.group(1).substring(0, row.group(1).indexOf('|') < 0 ?
                row.group(1).length() : row.group(1).indexOf('|'));
            final Matcher step = STEP.matcher(firstCell);
            while (step.find())
            {
                rows.computeIfAbsent(step.group(1), (key) -> new ArrayList<>()).add(row.group(1));
            }
        }
        return rows;
    }

    private static void check(final Set<String> steps, final List<String> offences, final String... pages)
    {
        final Map<String, String> tests = tests();
        final Map<String, List<String>> rows = rows(pages);
        final String page = String.join(", ", pages);
        for (final String step : steps)
        {
            if (!rows.containsKey(step))
            {
                offences.add(page + ": no row for " + step);
                continue;
            }
            int shown = 0;
            for (final String row : rows.get(step))
            {
                final Matcher test = TEST.matcher(row);
                while (test.find())
                {
                    final String text = text(tests, test.group(1), test.group(2));
                    shown++;
                    if (text == null || !leavesOut(text, step))
                    {
                        offences.add(page + ": " + test.group() + " does not leave out " + step);
                    }
                }
            }
            if (0 == shown && !ARGUED.contains(step))
            {
                offences.add(page + ": no test is named for " + step);
            }
        }
    }

    @Test
    void shouldNameATestForEachStepThatLeavesItOut()
    {
        final List<String> offences = new ArrayList<>();
        final Set<String> mutations = constants("TableMutation.java");
        assertThat(mutations).hasSizeGreaterThan(40);
        check(mutations, offences, "point-operations-tests.md", "growth-tests.md");
        check(constants("ReclaimMutation.java"), offences, "reclamation-tests.md");
        check(constants("MirrorLeaseMutation.java"), offences, "mirrored-leases.md");
        check(constants("GroupMutation.java"), offences, "mirrored-leases.md");
        check(constants("MemoryMutation.java"), offences, "durability-tests.md", "reclamation-tests.md");
        check(constants("ViewMutation.java"), offences, "views-tests.md");
        assertThat(offences).isEmpty();
    }

    /** The check itself: neither a comment nor a test that does not reach the step is taken for one that does. */
    @Test
    void shouldTellTestsThatLeaveAStepOut()
    {
        final String head = "class T\n{\n    @Test\n    void shouldX()\n    {\n        ";
        final String end = "\n    }\n}\n";
        assertThat(leavesOut(head + "assertThat(run(TableMutation.KILL)).isNotNull();" + end, "KILL")).isTrue();
        assertThat(leavesOut(head + "assertThat(run(TableMutation.KILLED)).isNotNull();" + end, "KILL")).isFalse();
        assertThat(leavesOut(head + "// TableMutation.KILL\n        assertThat(run(0));" + end, "KILL")).isFalse();
        assertThat(leavesOut(head + "run(TableMutation.KILL);" + end, "KILL")).isFalse();
        final String csv = "class T\n{\n    @ParameterizedTest\n    @CsvSource({\"KILL, 1\"})\n" +
            "    void shouldX(final String name)\n    {\n        ";
        assertThat(leavesOut(csv + "assertThat(run(name));" + end, "KILL")).isFalse();
        assertThat(leavesOut(csv + "assertThat(run(TableMutation.named(name)));" + end, "KILL")).isTrue();
        assertThat(leavesOut(csv + "run(TableMutation.named(name));" + end, "KILL")).isFalse();
        assertThat(leavesOut(
            csv + "MutationSearch.shouldShow(TableMutation.named(name));" + end, "KILL")).isTrue();
    }

    @Test
    void shouldNameATestForEachTrap()
    {
        final Map<String, String> tests = tests();
        final List<String> offences = new ArrayList<>();
        final Matcher row = ROW.matcher(page("traps.md"));
        int traps = 0;
        while (row.find())
        {
            if (row.group(1).startsWith("---") || row.group(1).startsWith(" trap"))
            {
                continue;
            }
            traps++;
            final Matcher test = TEST.matcher(row.group(1));
            int named = 0;
            while (test.find())
            {
                named++;
                if (text(tests, test.group(1), test.group(2)) == null)
                {
                    offences.add("there is no " + test.group());
                }
            }
            if (0 == named && !row.group(1).contains("not yet"))
            {
                offences.add("no test: " + row.group(1));
            }
        }
        assertThat(traps).isGreaterThan(30);
        assertThat(offences).isEmpty();
    }
}
