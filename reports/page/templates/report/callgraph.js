// A program as a graph: its calls from top to bottom, the tensors between them, the call that is wrong and what is
// computed of it. dagre lays it out; its file is read when the first graph is shown.

import { el, failure, paragraph, scrollBox, svg } from "./elements.js";
import { label } from "./plot.js";
import { section } from "./section.js";

// Widths of monospaced characters, and the room around them, in pixels.
const [LABEL, NOTE] = [7.3, 6.1];
const [PADDING, HEIGHT, NOTE_HEIGHT, MARGIN] = [10, 26, 13, 3];
const SHORTEST = 44;

// Nodes are kind, label, line and mark, edges the places of two nodes, a name and a type.
export function graphSection(graph, files) {
  const place = el("div", {});
  const show = (dagre, sentence) => place.replaceChildren(dagre ? scrollBox("Program as a graph", drawing(dagre, graph)) : failure(sentence));
  files.load("graphs.js", "graphs", show);
  return section("Program as a graph", place, paragraph("soft", caption(graph.nodes)));
}

function caption(nodes) {
  const wrong = nodes.find(([, , , mark]) => mark === "wrong");
  if (!wrong) return "No single call shows the difference by itself.";
  const rest = nodes.some(([, , , mark]) => mark === "tainted") ? "; what comes of it is dashed" : "";
  return `${wrong[1]} is the first that is wrong${rest}.`;
}

function drawing(dagre, { nodes, edges }) {
  const layout = new dagre.graphlib.Graph({ multigraph: true });
  layout.setGraph({ rankdir: "TB", nodesep: 24, ranksep: 22, marginx: MARGIN, marginy: MARGIN });
  nodes.forEach(([, name], number) => {
    layout.setNode(number, { width: Math.max(SHORTEST, name.length * LABEL + 2 * PADDING), height: HEIGHT });
  });
  edges.forEach((edge, number) => {
    const notes = notesOf(edge, nodes);
    const width = Math.max(0, ...notes.map((note) => note.length)) * NOTE + 2 * PADDING;
    layout.setEdge(edge[0], edge[1], { width, height: notes.length * NOTE_HEIGHT, labelpos: "c" }, number);
  });
  dagre.layout(layout);
  const { width, height } = layout.graph();
  const told = `${nodes.filter(([kind]) => kind === "call").length} calls and the tensors between them, as the program says`;
  return svg("svg", { class: "plot callgraph", width: Math.ceil(width), height: Math.ceil(height), role: "img", "aria-label": told },
    arrowHead(),
    edges.map((edge, number) => edgeOf(edge, layout.edge(edge[0], edge[1], number), nodes)),
    nodes.map((node, number) => nodeOf(node, layout.node(number))));
}

const arrowHead = () => svg("defs", {},
  svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
    svg("path", { d: "M0,0 L8,4 L0,8 z" })));

function nodeOf([kind, name, line, mark], { x, y, width, height }) {
  const corner = kind === "call" ? 4 : height / 2;
  const box = svg("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: corner });
  const title = line ? svg("title", {}, line) : null;
  return svg("g", { class: ["node", kind, mark].filter(Boolean).join(" ") }, title, box, label(x, y + 4, "middle", name));
}

// Its name and its type; an input's name is in its node.
const notesOf = ([from, , name, type], nodes) => [nodes[from][0] === "input" ? "" : name, type].filter(Boolean);

function edgeOf(edge, { points, x, y }, nodes) {
  const [from, to, , type] = edge;
  const isTainted = nodes[from][3] && nodes[to][3];
  const path = svg("path", { d: curve(points), "marker-end": "url(#arrow)" });
  const notes = notesOf(edge, nodes);
  const first = y - ((notes.length - 1) * NOTE_HEIGHT) / 2 + 4;
  return svg("g", { class: isTainted ? "edge tainted" : "edge" }, path,
    notes.map((note, row) => label(x, first + row * NOTE_HEIGHT, "middle", note, note === type ? "note faint" : "note")));
}

// Through the middles between the points that dagre gives, from the first to the last.
function curve(points) {
  const at = ({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`;
  const middle = (one, two) => ({ x: (one.x + two.x) / 2, y: (one.y + two.y) / 2 });
  const bends = points.slice(1, -1).map((point, index) => `Q${at(point)} ${at(middle(point, points[index + 2]))}`);
  return [`M${at(points[0])}`, ...bends, `L${at(points.at(-1))}`].join(" ");
}
