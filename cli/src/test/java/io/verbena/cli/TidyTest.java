package io.verbena.cli;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import org.junit.jupiter.api.Test;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a reviewer should not have to look for, over the whole tree.
 */
class TidyTest
{
    private static final int MAX_LINE_WIDTH = 120;
    private static final int MAX_METHOD_LINES = 60;
    private static final int MAX_FILE_LINES = 600;

    // In parts, so that this file does not contain what it looks for.
    private static final Pattern LEFTOVER =
        Pattern.compile("\\b(TO" + "DO|FIX" + "ME|XX" + "X|HA" + "CK)\\b|@Dis" + "abled");
    private static final Pattern WILDCARD_IMPORT = Pattern.compile("^import (?!static )[^;]*\\*;", Pattern.MULTILINE);
    private static final Pattern LINK = Pattern.compile("\\[[^\\]]*\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("^#+ +(.+)$", Pattern.MULTILINE);

    @Test
    void shouldSeeTheTree()
    {
        assertThat(SourceTree.files(".java")).hasSizeGreaterThan(100);
    }

    @Test
    void shouldKeepLinesFilesAndWordsWithinBounds()
    {
        final List<String> offences = new ArrayList<>();
        final List<Path> files = new ArrayList<>(SourceTree.files(".java"));
        files.add(SourceTree.root().resolve("verbena"));
        for (final Path file : files)
        {
            final List<String> lines = SourceTree.text(file).lines().toList();
            for (int i = 0; i < lines.size(); i++)
            {
                lineOffence(lines.get(i), where(file) + ":" + (i + 1), offences);
            }
            if (lines.size() > MAX_FILE_LINES)
            {
                offences.add(where(file) + ": " + lines.size() + " lines, at most " + MAX_FILE_LINES);
            }
        }
        assertThat(offences).isEmpty();
    }

    @Test
    void shouldNotImportByWildcard()
    {
        assertThat(SourceTree.files(".java")).allSatisfy(file ->
            assertThat(WILDCARD_IMPORT.matcher(SourceTree.text(file)).find()).as(where(file)).isFalse());
    }

    @Test
    void shouldKeepMethodsWithinBounds() throws IOException
    {
        final List<String> offences = new ArrayList<>();
        final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null))
        {
            final JavacTask task = (JavacTask)compiler.getTask(
                null, files, null, null, null, files.getJavaFileObjectsFromPaths(SourceTree.files(".java")));
            final SourcePositions positions = Trees.instance(task).getSourcePositions();
            for (final CompilationUnitTree unit : task.parse())
            {
                new MethodLengths(unit, positions, offences).scan(unit, null);
            }
        }
        assertThat(offences).isEmpty();
    }

    @Test
    void shouldSayInEveryPackageWhatItOwns()
    {
        final Set<Path> packages = new TreeSet<>();
        SourceTree.files(".java").stream().filter(file -> file.toString().contains("/src/main/java/"))
            .forEach(file -> packages.add(file.getParent()));

        assertThat(packages).allSatisfy(folder -> assertThat(folder.resolve("package-info.java")).exists());
    }

    @Test
    void shouldHaveNoDeadLinksInItsPages()
    {
        final List<String> dead = new ArrayList<>();
        for (final Path page : SourceTree.files(".md"))
        {
            final Matcher link = LINK.matcher(SourceTree.text(page));
            while (link.find())
            {
                if (isDead(page, link.group(1)))
                {
                    dead.add(where(page) + ": " + link.group(1));
                }
            }
        }
        assertThat(dead).isEmpty();
    }

    private static void lineOffence(final String line, final String where, final List<String> offences)
    {
        if (line.length() > MAX_LINE_WIDTH)
        {
            offences.add(where + ": " + line.length() + " characters, at most " + MAX_LINE_WIDTH);
        }
        if (line.indexOf('\t') >= 0 || line.endsWith(" "))
        {
            offences.add(where + ": tab or blank at the end");
        }
        if (LEFTOVER.matcher(line).find())
        {
            offences.add(where + ": leftover: " + line.strip());
        }
    }

    private static boolean isDead(final Path page, final String link)
    {
        if (link.startsWith("http:") || link.startsWith("https:") || link.startsWith("mailto:"))
        {
            return false;
        }
        final int hash = link.indexOf('#');
        final String file = hash < 0 ? link : link.substring(0, hash);
        final Path target = file.isEmpty() ? page : page.resolveSibling(file).normalize();
        if (!Files.exists(target))
        {
            return true;
        }
        return hash >= 0 && target.toString().endsWith(".md") && !anchors(target).contains(link.substring(hash + 1));
    }

    private static Set<String> anchors(final Path page)
    {
        final Set<String> anchors = new TreeSet<>();
        final Matcher heading = HEADING.matcher(SourceTree.text(page));
        while (heading.find())
        {
            anchors.add(heading.group(1).strip().toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'));
        }
        return anchors;
    }

    private static String where(final Path file)
    {
        return SourceTree.root().relativize(file).toString();
    }

    private static final class MethodLengths extends TreeScanner<Void, Void>
    {
        private final CompilationUnitTree unit;
        private final SourcePositions positions;
        private final List<String> offences;

        private MethodLengths(
            final CompilationUnitTree unit, final SourcePositions positions, final List<String> offences)
        {
            this.unit = unit;
            this.positions = positions;
            this.offences = offences;
        }

        @Override
        public Void visitMethod(final MethodTree method, final Void unused)
        {
            if (method.getBody() != null)
            {
                final LineMap lines = unit.getLineMap();
                final long first = lines.getLineNumber(positions.getStartPosition(unit, method.getBody()));
                final long last = lines.getLineNumber(positions.getEndPosition(unit, method.getBody()));
                if (last - first - 1 > MAX_METHOD_LINES)
                {
                    offences.add(where(Path.of(unit.getSourceFile().toUri())) + ":" + first + ": method " +
                        method.getName() + " has " + (last - first - 1) + " lines, at most " + MAX_METHOD_LINES);
                }
            }
            return super.visitMethod(method, unused);
        }
    }
}
