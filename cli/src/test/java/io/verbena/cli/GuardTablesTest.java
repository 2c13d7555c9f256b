package io.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
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
 * The tables of guards and traps in {@code docs/protocol} hold: each guard of the code stands in one, and each row
 * names a test that is there and, for a guard, leaves it out.
 */
class GuardTablesTest
{
    private static final Pattern ROW = Pattern.compile("^\\|(.+)\\|$", Pattern.MULTILINE);
    private static final Pattern GUARD = Pattern.compile("`([A-Z][A-Z_]+)`");
    private static final Pattern CONSTANT = Pattern.compile("static final int ([A-Z_]+) =");
    private static final Pattern TEST = Pattern.compile("`(\\w+Test)(?:\\.(\\w+))?`");
    /** Argued on their page; nobody has found a schedule that shows them. */
    private static final Set<String> ARGUED = Set.of("LOOK_BEFORE_PASS", "CLOSE_DROPPED", "INDEX_WAIT", "RESTORED");
    /** A fault for tests, no guard. */
    private static final Set<String> FAULTS = Set.of("SLOW_LOOKS");

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
        names.removeAll(FAULTS);
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

    /** Guards named by the rows of a page, with the rows. */
    private static Map<String, List<String>> rows(final String page)
    {
        final Map<String, List<String>> rows = new TreeMap<>();
        final Matcher row = ROW.matcher(page(page));
        while (row.find())
        {
            final String firstCell = row.group(1).substring(0, row.group(1).indexOf('|') < 0 ?
                row.group(1).length() : row.group(1).indexOf('|'));
            final Matcher guard = GUARD.matcher(firstCell);
            while (guard.find())
            {
                rows.computeIfAbsent(guard.group(1), (key) -> new ArrayList<>()).add(row.group(1));
            }
        }
        return rows;
    }

    private static void check(final String page, final Set<String> guards, final List<String> offences)
    {
        final Map<String, String> tests = tests();
        final Map<String, List<String>> rows = rows(page);
        for (final String guard : guards)
        {
            if (!rows.containsKey(guard))
            {
                offences.add(page + ": no row for " + guard);
                continue;
            }
            int shown = 0;
            for (final String row : rows.get(guard))
            {
                final Matcher test = TEST.matcher(row);
                while (test.find())
                {
                    final String text = text(tests, test.group(1), test.group(2));
                    shown++;
                    if (text == null || !Pattern.compile("\\b" + guard + "\\b").matcher(text).find())
                    {
                        offences.add(page + ": " + test.group() + " does not leave out " + guard);
                    }
                }
            }
            if (0 == shown && !ARGUED.contains(guard))
            {
                offences.add(page + ": no test is named for " + guard);
            }
        }
    }

    @Test
    void shouldNameATestForEachGuardThatLeavesItOut()
    {
        final List<String> offences = new ArrayList<>();
        final Set<String> guards = constants("Guard.java");
        assertThat(guards).hasSizeGreaterThan(20);
        check("point-operations.md", guards, offences);
        check("reclamation.md", constants("ReclaimGuard.java"), offences);
        assertThat(offences).isEmpty();
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
