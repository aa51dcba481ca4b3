/* SPDX-License-Identifier: Apache-2.0 */
/* How evenly the graphs of the runs are partitioned, and what their partitions share. */
#include <stdio.h>

#include "model/report/bar_chart.h"
#include "model/report/report_page.h"

static void write_bars(struct html *html, size_t graph, const char *what, const char *title,
                       const uint64_t *values, const struct graph_facts *facts, size_t colour)
{
    char id[40];
    snprintf(id, sizeof id, "p%zu%s", graph, what);
    const struct bar_chart chart = {
        .id = id, .title = title, .values = values, .num_values = facts->num_parts, .colour = colour
    };
    bar_chart_write(html, &chart);
}

static void write_graph_table(struct html *html, const struct graph_facts *facts)
{
    uint64_t cut = 0, halo = 0;
    for (uint32_t p = 0; p < facts->num_parts; p++) {
        cut += facts->cut != NULL ? facts->cut[p] : 0;
        halo += facts->halo[p];
    }
    page_begin_table(html, "The graph and its partitions");
    html_markup(html, "<tbody><tr><th scope=\"row\">Name</th>");
    html_element(html, "td", "", facts->name);
    html_markup(html, "</tr><tr><th scope=\"row\">Partitioned by</th>");
    html_element(html, "td", "", facts->method);
    html_markup(html, "</tr><tr><th scope=\"row\">Partitions</th>");
    page_write_count(html, facts->num_parts);
    html_markup(html, "</tr><tr><th scope=\"row\">Nodes</th>");
    page_write_count(html, facts->num_nodes);
    html_markup(html, "</tr><tr><th scope=\"row\">Edges</th>");
    page_write_count(html, facts->num_edges);
    html_markup(html, "</tr><tr><th scope=\"row\">Node balance (largest / mean)</th>");
    page_write_number(html, facts->node_balance);
    html_markup(html, "</tr><tr><th scope=\"row\">Edge balance (largest / mean)</th>");
    page_write_number(html, facts->edge_balance);
    html_print(html, "</tr><tr><th scope=\"row\">Halo nodes (%u %s)</th>", facts->halo_hops,
               facts->halo_hops == 1 ? "hop" : "hops");
    page_write_count(html, halo);
    html_markup(html, "</tr><tr><th scope=\"row\">Edges cut</th>");
    if (facts->cut != NULL)
        page_write_count(html, cut);
    else
        html_markup(html, "<td>not counted</td>");
    if (facts->cut != NULL && facts->num_edges > 0)
        html_print(html,
                   "</tr><tr><th scope=\"row\">Share of edges cut</th><td class=\"n\">%.2f %%</td>",
                   (double)cut / (double)facts->num_edges * 100);
    html_markup(html, "</tr></tbody>");
    page_end_table(html);
}

static void write_graph(struct html *html, const struct page_graph *graph, size_t number)
{
    const struct graph_facts *facts = &graph->facts;
    html_element(html, "h3", "", graph->path);
    if (graph->why.code != 0) {
        html_markup(html, "<p>It could not be read here: ");
        html_text(html, graph->why.message);
        html_markup(html, "</p>\n");
        return;
    }
    write_graph_table(html, facts);
    if (facts->num_parts > BARS_MAX)
        html_print(html, "<p>The pictures show the first %d partitions.</p>\n", BARS_MAX);
    html_markup(html, "<div class=\"charts\" style=\"margin-top:1rem\">\n");
    write_bars(html, number, "n", "Nodes of each partition", facts->nodes, facts, 0);
    write_bars(html, number, "e", "Edges into each partition's nodes", facts->edges, facts, 1);
    write_bars(html, number, "h", "Halo nodes of each partition", facts->halo, facts, 2);
    if (facts->cut != NULL)
        write_bars(html, number, "c", "Edges from other partitions (cut)", facts->cut, facts, 3);
    html_markup(html, "</div>\n");
}

void page_write_partitions(struct html *html, const struct report_page *page)
{
    html_markup(html, "<section><h2 id=\"partitions\">Partitions</h2>\n");
    for (size_t g = 0; g < page->num_graphs; g++)
        write_graph(html, &page->graphs[g], g);
    html_markup(html, "</section>\n");
}
