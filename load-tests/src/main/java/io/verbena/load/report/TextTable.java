package io.verbena.load.report;

import java.util.ArrayList;
import java.util.List;

/**
 * Columns of text: the first to the left, the others to the right, as wide as their widest cell. Not thread-safe.
 */
public final class TextTable
{
    private static final String INDENT = "  ";
    private static final String GAP = "   ";

    private final List<String[]> rows = new ArrayList<>();

    /**
     * Adds a row.
     *
     * @param cells one for each column, as many as in the other rows.
     * @return this.
     */
    public TextTable row(final String... cells)
    {
        rows.add(cells.clone());
        return this;
    }

    @Override
    public String toString()
    {
        final int[] widths = new int[rows.isEmpty() ? 0 : rows.getFirst().length];
        for (final String[] row : rows)
        {
            for (int i = 0; i < widths.length; i++)
            {
                widths[i] = Math.max(widths[i], row[i].length());
            }
        }
        final StringBuilder text = new StringBuilder();
        for (final String[] row : rows)
        {
            text.append(INDENT).append(row[0]).append(" ".repeat(widths[0] - row[0].length()));
            for (int i = 1; i < widths.length; i++)
            {
                text.append(GAP).append(" ".repeat(widths[i] - row[i].length())).append(row[i]);
            }
            text.append('\n');
        }
        return text.toString();
    }
}
